/* What numasim-runtime does beside running kernels: words of the command line that come first. */
#ifndef NS_COMMANDS_H
#define NS_COMMANDS_H

/* The last is the status that a shell gives to a program ended by SIGPIPE: 128 + 13. */
enum ns_exit {
    NS_EXIT_NO_COMMAND = -1,
    NS_EXIT_OK = 0,
    NS_EXIT_WRONG = 1,
    NS_EXIT_BAD_INPUT = 2,
    NS_EXIT_PIPE_CLOSED = 141,
};

/* Run the command that argv[1] names; its exit status, or NS_EXIT_NO_COMMAND where there is none, and in `*nearest` the
 * one that has the most similar name. */
int ns_command_run(int argc, char **argv, const char **nearest);

/* The commands; argv[0] is their name. */
int ns_plan_command(int argc, char **argv);
int ns_topology_command(int argc, char **argv);
int ns_probe_command(int argc, char **argv);
int ns_bare_command(int argc, char **argv);

#endif
