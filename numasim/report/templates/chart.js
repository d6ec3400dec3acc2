// The plots of a sweep's page: any column over any axis, coloured and divided into panels by any other, drawn by BokehJS.
// The page has the cells of the sweep (#chart-data) and, if there are any, its iterations; the elements of the
// iterations have the same ids behind a prefix. Nothing is fetched, and no text of the data becomes markup.
"use strict";
["", "iterations-"].filter((prefix) => document.getElementById(`${prefix}chart-data`)).forEach((prefix) => {
  const byId = (id) => document.getElementById(prefix + id);
  const data = JSON.parse(byId("chart-data").textContent);
  const axisNamed = new Map(data.axes.map((axis) => [axis.name, axis]));
  const columnNamed = new Map(data.columns.map((column) => [column.name, column]));
  const state = { ...data.start, only: new Map(), hidden: new Set() };
  const MARKERS = ["circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x", "star"];
  const DASHES = ["solid", "dashed", "dotted", "dotdash"];
  const MOST_PANELS = 12;
  const MOST_ROWS = 500;
  const MANY_PLACES = 40; // from this number of places on x on, marks are small
  const SAME_PLACE = 0.005; // of the height of a panel: closer lines coincide
  const DASH = 12; // length of a dash, in pixels, of coinciding lines
  const WIDE_SPAN = 30; // from this ratio of the largest to the smallest value on, a scale is logarithmic
  const FAR_FROM_ZERO = 0.5; // least ratio of the smallest to the largest value on a scale without zero

  // ---- elements ----

  function element(name, text = "", attributes = {}) {
    const made = document.createElement(name);
    made.textContent = text;
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  }

  function fill(select, options, chosen) {
    select.replaceChildren(...options.map(([value, text]) => {
      const option = element("option", text);
      option.value = value;
      option.selected = value === chosen;
      return option;
    }));
  }

  // ---- values ----

  const valueOf = (axis, cell) => axisNamed.get(axis).values[axisNamed.get(axis).of[cell]];
  const nameOf = (axis, cell) => (axis ? axisNamed.get(axis).names[axisNamed.get(axis).of[cell]] : "");
  const numberAt = (numbers, cell) => (Array.isArray(numbers) ? numbers[cell] : numbers) ?? NaN;
  const distinct = (axis, cells) => {
    const present = new Set(cells.map((cell) => axisNamed.get(axis).of[cell]));
    return axisNamed.get(axis).names.map((_, at) => at).filter((at) => present.has(at));
  };

  function scaleOf(column, cells) {
    const units = data.units[column.unit];
    if (!units) return [1, column.unit];
    const largest = Math.max(0, ...cells.map((cell) => Math.abs(numberAt(column.value, cell))).filter((x) => x === x));
    return units.find(([factor]) => largest >= factor) ?? units[units.length - 1];
  }

  function text(column, amount) {
    if (Number.isNaN(amount)) return "none";
    const units = data.units[column.unit];
    const [factor, unit] = units ? units.find(([least]) => Math.abs(amount) >= least) ?? units[units.length - 1] : [1, ""];
    const size = amount / factor;
    const whole = Math.abs(size) >= 10000 || (Number.isInteger(size) && !column.ratio);
    return `${whole ? Math.round(size).toLocaleString("en") : size.toPrecision(4)} ${unit}`.trim();
  }

  function intervalText(column, cell) {
    const [low, high] = [numberAt(column.low, cell), numberAt(column.high, cell)];
    if (Number.isNaN(low)) return "none: a single run";
    const repeats = data.repeats[cell];
    return `${text(column, low)} to ${text(column, high)}${repeats < data.fewest ? `, the range of ${repeats}` : ""}`;
  }

  // ---- which cells ----

  // An axis that is not x, colour or panel, and varies among the cells of one mark, is held at one value.
  function heldAxes(cells) {
    const shown = [state.x, state.colour, state.facet].filter(Boolean);
    const held = [];
    for (const axis of data.axes.map((each) => each.name).filter((name) => !shown.includes(name))) {
      if (!variesWithin(axis, cells, shown)) continue;
      const possible = distinct(axis, cells);
      const usual = axis === "workers" ? possible[possible.length - 1] : possible[0];
      const at = possible.includes(state.only.get(axis)) ? state.only.get(axis) : usual;
      cells = cells.filter((cell) => axisNamed.get(axis).of[cell] === at);
      held.push({ axis, possible, at });
    }
    return [cells, held];
  }

  function variesWithin(axis, cells, shown) {
    const first = new Map();
    return cells.some((cell) => {
      const mark = shown.map((name) => axisNamed.get(name).of[cell]).join();
      const at = axisNamed.get(axis).of[cell];
      if (!first.has(mark)) first.set(mark, at);
      return first.get(mark) !== at;
    });
  }

  // ---- the scale of x ----

  function xScale(axis) {
    const { values, numeric } = axis;
    const given = values.filter((value) => value !== null);
    if (!numeric || !given.length) return { kind: "names", place: (at) => at };
    const [least, most] = [Math.min(...given.filter((value) => value > 0)), Math.max(...given)];
    const geometric = given.every((value, at) => at < 2 || Math.abs(value / given[at - 1] / (given[1] / given[0]) - 1) < 1e-6);
    const wide = given.length > 2 && given.every((value) => value >= 0) && (geometric || most > WIDE_SPAN * least);
    if (wide && given.some((value) => value === 0)) return { kind: "steps", place: (at) => at };
    return { kind: wide ? "log" : "linear", place: (at) => values[at] };
  }

  function xRange(scale, places) {
    const [low, high] = [Math.min(...places), Math.max(...places)];
    if (scale.kind === "names") return { start: low - 0.6, end: high + 0.6 };
    if (scale.kind === "log") return { start: low / (high / low || 2) ** 0.04, end: high * (high / low || 2) ** 0.04 };
    const pad = 0.04 * (high - low) || 0.5;
    return { start: low - pad, end: high + pad };
  }

  // ---- drawing ----

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const one = (name) => style.getPropertyValue(name).trim();
    const [ink, dim, line] = ["--ink", "--dim", "--line"].map(one);
    return { ink, dim, line, paper: one("--paper"), lines: data.colours.map((each) => (each === "#000000" ? ink : each)) };
  }

  function points(panel, column, factor, scale, aside) {
    const cells = panel.filter((cell) => valueOf(state.x, cell) !== null);
    cells.sort((a, b) => axisNamed.get(state.x).of[a] - axisNamed.get(state.x).of[b]);
    return {
      x: cells.map((cell) => scale.place(axisNamed.get(state.x).of[cell]) + aside),
      y: cells.map((cell) => numberAt(column.value, cell) / factor),
      low: cells.map((cell) => numberAt(column.low, cell) / factor),
      high: cells.map((cell) => numberAt(column.high, cell) / factor),
      cell: cells.map((cell) => cellText(cell)),
      value: cells.map((cell) => text(column, numberAt(column.value, cell))),
      interval: cells.map((cell) => intervalText(column, cell)),
      repeats: cells.map((cell) => String(data.repeats[cell])),
    };
  }

  const cellText = (cell) => data.axes.map((axis) => `${axis.name}: ${nameOf(axis.name, cell)}`).join(", ");

  function yRange(all, logarithmic) {
    const finite = all.flatMap(({ y, low, high }) => [...y, ...low, ...high]).filter(Number.isFinite);
    const positive = finite.filter((value) => value > 0);
    if (logarithmic && positive.length) return { start: Math.min(...positive) / 1.15, end: Math.max(...positive) * 1.15 };
    const [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
    const pad = 0.06 * (high - low || Math.abs(high) || 1);
    return { start: low > FAR_FROM_ZERO * high || low < 0 ? low - pad : 0, end: high + pad };
  }

  // Return the lines of a panel in groups of lines that coincide.
  function lyingOnEachOther(series, { start, end }, logarithmic) {
    const height = (y) => (logarithmic ? Math.log(y / start) / Math.log(end / start) : (y - start) / (end - start));
    const same = (one, other) => one.x.length === other.x.length && one.x.every((x, at) => x === other.x[at]
      && !(Math.abs(height(one.y[at]) - height(other.y[at])) > SAME_PLACE)
      && Number.isNaN(one.y[at]) === Number.isNaN(other.y[at]));
    const groups = [];
    for (const line of series) {
      const group = groups.find(([first]) => same(first.source, line.source));
      if (group) group.push(line);
      else groups.push([line]);
    }
    return groups;
  }

  function drawPanel(place, series, column, unit, scale, range, paint, logarithmic, panels) {
    const places = series.flatMap(({ source }) => source.x);
    const axis = axisNamed.get(state.x);
    const figure = Bokeh.Plotting.figure({
      height: panels > 1 ? 320 : 400,
      sizing_mode: "stretch_width",
      tools: "pan,box_zoom,reset,save",
      x_axis_type: scale.kind === "log" ? "log" : "linear",
      y_axis_type: logarithmic ? "log" : "linear",
      x_range: new Bokeh.Range1d(xRange(scale, places)),
      y_range: new Bokeh.Range1d(range),
      background_fill_color: paint.paper,
      border_fill_color: paint.paper,
      outline_line_color: null,
    });
    Object.assign(figure.toolbar, { logo: null, active_drag: null }); // a finger scrolls the page
    const joined = axis.numeric;
    const field = (name) => ({ field: name });
    const groups = lyingOnEachOther(series, range, logarithmic);
    const below = new Map(groups.flatMap((group) => group.map(({ index }, at) => [index, group.length - 1 - at])));
    for (const [group, { index, source }, at] of groups.flatMap((each) => each.map((line, at) => [each, line, at]))) {
      const colour = paint.lines[index % paint.lines.length];
      const table = new Bokeh.ColumnDataSource({ data: source });
      if (joined) figure.varea({ x: field("x"), y1: field("low"), y2: field("high"), source: table, fill_color: colour, fill_alpha: 0.18 });
      figure.segment({ x0: field("x"), y0: field("low"), x1: field("x"), y1: field("high"), source: table,
        line_color: colour, line_alpha: joined ? 0.5 : 0.9, line_width: joined ? 1 : 2 });
      if (joined) figure.line({ x: field("x"), y: field("y"), source: table, line_color: colour, line_width: group.length > 1 ? 3 : 2,
        ...(group.length > 1 ? { line_dash: [DASH, DASH * (group.length - 1)], line_dash_offset: -DASH * at }
          : { line_dash: DASHES[Math.floor(index / paint.lines.length) % DASHES.length] }) });
    }
    // All marks are one glyph with its own data: marks in one place share a tooltip, and the lines do not change.
    const all = (name) => series.flatMap(({ source }) => source[name]);
    const each = (made) => series.flatMap(({ index, source }) => source.x.map(() => made(index)));
    const names = ["x", "y", "cell", "value", "interval", "repeats"];
    const table = new Bokeh.ColumnDataSource({ data: {
      ...Object.fromEntries(names.map((name) => [name, all(name)])),
      colour: each((index) => paint.lines[index % paint.lines.length]),
      shape: each((index) => MARKERS[index % MARKERS.length]),
      size: each((index) => (new Set(places).size > MANY_PLACES ? 4 : 9) + 5 * below.get(index)),
    } });
    const marks = figure.scatter({ x: field("x"), y: field("y"), source: table,
      size: field("size"), name: "marks",
      marker: field("shape"), fill_color: field("colour"), line_color: paint.paper });
    figure.add_tools(new Bokeh.HoverTool({ renderers: [marks], tooltips: [
      ["cell", "@cell"], [column.label, "@value"], ["interval", "@interval"], ["repeats", "@repeats"]] }));
    tick(figure, axis, scale, places);
    label(figure, unit ? `${column.label} (${unit})` : column.label, paint, logarithmic);
    return Bokeh.Plotting.show(figure, place);
  }

  function tick(figure, axis, scale, places) {
    const at = axis.names.map((_, index) => index).filter((index) => axis.values[index] !== null);
    const step = axis.numeric ? Math.ceil(at.length / 12) : 1;
    const shown = at.filter((_, index) => index % step === 0);
    const names = new Map(shown.map((index) => [scale.place(index), new Bokeh.PlainText({ text: axis.names[index] })]));
    const ticker = new Bokeh.FixedTicker({ ticks: [...names.keys()], minor_ticks: [] });
    figure.xaxis.ticker = ticker;
    figure.xgrid.ticker = ticker;
    figure.xaxis.major_label_overrides = names;
    const characters = shown.reduce((sum, index) => sum + axis.names[index].length + 2, 0);
    if (characters > 44) figure.xaxis.major_label_orientation = 0.6;
  }

  function label(figure, yLabel, paint, logarithmic) {
    figure.xaxis.axis_label = new Bokeh.PlainText({ text: axisNamed.get(state.x).label });
    figure.yaxis.axis_label = new Bokeh.PlainText({ text: yLabel });
    for (const axis of [figure.xaxis, figure.yaxis]) {
      Object.assign(axis, { axis_label_text_color: paint.ink, major_label_text_color: paint.ink, axis_line_color: paint.dim,
        major_tick_line_color: paint.dim, minor_tick_line_color: null, axis_label_text_font_style: "normal",
        axis_label_text_font_size: "13px", major_label_text_font_size: "12px" });
    }
    if (!logarithmic) figure.yaxis.formatter = new Bokeh.BasicTickFormatter({ use_scientific: false });
    for (const grid of [figure.xgrid, figure.ygrid]) grid.grid_line_color = paint.line;
  }

  // ---- the page ----

  let shown = []; // promises of the views of the panels

  function clear(chart) {
    for (const view of shown) view.then((done) => [done].flat().forEach((each) => each.remove()));
    shown = [];
    delete chart.dataset.drawn;
    chart.replaceChildren();
  }

  function draw() {
    const [cells, held] = heldAxes(data.repeats.map((_, cell) => cell));
    const column = columnNamed.get(state.column);
    const [factor, unit] = scaleOf(column, cells);
    const scale = xScale(axisNamed.get(state.x));
    const paint = colours();
    const logarithmic = byId("logarithmic").checked;
    const facets = state.facet ? distinct(state.facet, cells) : [null];
    const series = state.colour ? distinct(state.colour, cells) : [null];
    const panels = facets.slice(0, MOST_PANELS).map((facet) => {
      const mine = cells.filter((cell) => facet === null || axisNamed.get(state.facet).of[cell] === facet);
      const lines = series.map((colour, index) => {
        const same = mine.filter((cell) => colour === null || axisNamed.get(state.colour).of[cell] === colour);
        const aside = scale.kind === "names" ? Math.min(0.12, 0.8 / series.length) * (index - (series.length - 1) / 2) : 0;
        return { index, name: colour === null ? "all" : axisNamed.get(state.colour).names[colour],
          source: points(same, column, factor, scale, aside) };
      }).filter(({ name, source }) => source.x.length && !state.hidden.has(name));
      return { title: facet === null ? "" : `${state.facet}: ${axisNamed.get(state.facet).names[facet]}`, lines };
    }).filter(({ lines }) => lines.length);
    const together = panels.flatMap(({ lines }) => lines.map(({ source }) => source));
    const chart = byId("chart");
    clear(chart);
    chart.dataset.panels = String(Math.min(3, panels.length));
    const hidden = [];
    for (const { title, lines } of panels) {
      const panel = element("div", "", { class: "panel" });
      if (title) panel.append(element("h3", title));
      const place = element("div", "", { class: "plot" });
      panel.append(place);
      chart.append(panel);
      const range = yRange(byId("same-scale").checked ? together : lines.map(({ source }) => source), logarithmic);
      shown.push(drawPanel(place, lines, column, unit, scale, range, paint, logarithmic, panels.length));
      const groups = lyingOnEachOther(lines, range, logarithmic).filter((group) => group.length > 1);
      hidden.push(...groups.map((group) => `${group.map(({ name }) => name).join(", ")} lie on each other${title && ` (${title})`}.`));
    }
    describe(column, facets.length, hidden);
    legend(series, paint);
    holdControls(held);
    values(column, cells);
    const mine = shown;
    const chosen = [state.column, state.x, state.colour, state.facet].join("|");
    Promise.all(mine).then(() => {
      if (mine === shown) chart.dataset.drawn = chosen; // unless the user has made another choice meanwhile
    });
  }

  function describe(column, facets, hidden) {
    const notes = [...hidden, column.meaning];
    if (facets > MOST_PANELS) notes.push(`The first ${MOST_PANELS} of ${facets} panels are drawn.`);
    byId("meaning").textContent = notes.join(" ");
  }

  function legend(series, paint) {
    const names = series[0] === null ? [] : series.map((at) => axisNamed.get(state.colour).names[at]);
    byId("legend").replaceChildren(...names.map((name, index) => {
      const entry = element("button", "", { type: "button", "aria-pressed": String(!state.hidden.has(name)) });
      const swatch = element("span", "", { class: "swatch" });
      swatch.style.background = paint.lines[index % paint.lines.length];
      entry.append(swatch, name);
      entry.addEventListener("click", () => {
        if (!state.hidden.delete(name)) state.hidden.add(name);
        draw();
      });
      return entry;
    }));
  }

  function holdControls(held) {
    byId("held").replaceChildren(...held.map(({ axis, possible, at }) => {
      const label = element("label", `only ${axis} `);
      const select = element("select", "", { "aria-label": `only ${axis}` });
      fill(select, possible.map((each) => [String(each), axisNamed.get(axis).names[each]]), String(at));
      select.addEventListener("change", () => {
        state.only.set(axis, Number(select.value));
        draw();
      });
      label.append(select);
      return label;
    }));
  }

  function values(column, cells) {
    const heads = [...data.axes.map((axis) => axis.name), column.label, "interval", "repeats"];
    const head = element("tr");
    head.append(...heads.map((each) => element("th", each)));
    const rows = cells.slice(0, MOST_ROWS).map((cell) => {
      const row = element("tr");
      const texts = [...data.axes.map((axis) => nameOf(axis.name, cell)), text(column, numberAt(column.value, cell)),
        intervalText(column, cell), String(data.repeats[cell])];
      row.append(...texts.map((each) => element("td", each)));
      return row;
    });
    byId("values").tHead.replaceChildren(head);
    byId("values").tBodies[0].replaceChildren(...rows);
    byId("more-values").textContent = cells.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${cells.length} cells.` : "";
  }

  // ---- what can be chosen ----

  function choices() {
    const axes = data.axes.map((axis) => [axis.name, axis.name]);
    fill(byId("column"), data.columns.map((each) => [each.name, `${each.label} (${each.name})`]), state.column);
    fill(byId("x"), axes, state.x);
    fill(byId("colour"), [["", "none"], ...axes], state.colour);
    fill(byId("facet"), [["", "none"], ...axes], state.facet);
  }

  // An axis has one role: a role that takes another role's axis gives its own axis in exchange.
  function choose(role, value) {
    for (const other of ["x", "colour", "facet"]) {
      if (other !== role && value && state[other] === value) state[other] = state[role];
    }
    if (role === "colour") state.hidden.clear();
    state[role] = value;
    const free = data.axes.find(({ name }) => name !== state.colour && name !== state.facet);
    if (!state.x) state.x = (free ?? data.axes[0]).name;
    choices();
    draw();
  }

  for (const role of ["x", "colour", "facet"]) {
    byId(role).addEventListener("change", (event) => choose(role, event.target.value));
  }
  byId("column").addEventListener("change", (event) => {
    state.column = event.target.value;
    byId("same-scale").checked = columnNamed.get(state.column).ratio;
    draw();
  });
  byId("same-scale").checked = columnNamed.get(state.column).ratio;
  byId("same-scale").addEventListener("change", draw);
  byId("logarithmic").addEventListener("change", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  choices();
  draw();
});
