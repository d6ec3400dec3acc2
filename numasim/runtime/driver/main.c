#include <stdio.h>

int main(void) {
    fputs("numasim-runtime: no kernels\n", stderr);
    return 2;
}
