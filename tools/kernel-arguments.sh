# kernel_arguments NAME: of a program of testdata/kernels, for about ten seconds, and behind the comma for a callgrind
# run.
kernel_arguments() {
    case $1 in
    computed_goto) echo '500000,2000' ;;
    events) echo '200000000,400000' ;;
    connect_four) echo '9 2200,7 4' ;;
    game_tree) echo '6 9000,5 100' ;;
    hash_table) echo '1000000 500,200000 2' ;;
    huffman) echo '1000000 1000,50000 10' ;;
    permutations) echo '10 50,8 10' ;;
    queens) echo '10 7000,8 200' ;;
    tree_sort) echo '500000 20,50000 4' ;;
    life) echo '512 8700,128 100' ;;
    edit_distance) echo '3000 1050,500 20' ;;
    compress) echo '200000 2800,50000 3' ;;
    matcher) echo '60000 1250,6000 10' ;;
    threads) echo '5000000 60,2000 60' ;;
    parser) echo '2000 700,200 10' ;;
    *) echo "kernels: $1: no such program" >&2; exit 2 ;;
    esac
}
