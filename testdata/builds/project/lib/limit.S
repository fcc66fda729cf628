/* Not from C: stays as it is. */
        .section .note.GNU-stack,"",%progbits
        .data
        .globl text_limit
        .balign 4
text_limit:
        .long 5
