/* A library with two versions of a function under one name. */
int old_answer(void);
int new_answer(void);
int old_answer(void) { return 41; }
int new_answer(void) { return 42; }
__asm__(".symver old_answer, answer@TEST_1");
__asm__(".symver new_answer, answer@@TEST_2");
