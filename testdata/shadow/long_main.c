int lengthy(int only_short);
int main(int argc, char **argv) {
    (void)argv;
    return lengthy(argc > 1);
}
