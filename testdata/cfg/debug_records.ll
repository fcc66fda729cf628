; Inserted code takes the location of what it stands before; debug records stay where they were.
define i32 @f(i1 %c, i32 %n) !dbg !4 {
entry:
    #dbg_value(i32 %n, !8, !DIExpression(), !9)
  br i1 %c, label %join, label %no, !dbg !9

no:
  br label %join, !dbg !10

join:
    #dbg_value(i32 0, !8, !DIExpression(), !11)
  %v = add i32 %n, 1, !dbg !11
    #dbg_value(i32 %v, !8, !DIExpression(), !11)
  br i1 %c, label %yes, label %done, !dbg !11

yes:
  br label %done, !dbg !12

done:
  %w = phi i32 [ %v, %join ], [ 0, %yes ], !dbg !12
  ret i32 %w, !dbg !12
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "test", isOptimized: true, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !5, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !7)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !{}
!8 = !DILocalVariable(name: "n", scope: !4, file: !1, line: 1)
!9 = !DILocation(line: 2, column: 3, scope: !4)
!10 = !DILocation(line: 3, column: 3, scope: !4)
!11 = !DILocation(line: 4, column: 3, scope: !4)
!12 = !DILocation(line: 5, column: 3, scope: !4)
