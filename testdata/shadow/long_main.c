int lengthy(void);
int main(void) { return lengthy(); }
