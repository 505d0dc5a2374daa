#include <stdio.h>

int main(void)
{
    puts("hello from a graph");
    return 0;
}
