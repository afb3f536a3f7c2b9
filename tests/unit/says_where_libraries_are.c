/* Linked with a run path. */
int main(void) { return 0; }
