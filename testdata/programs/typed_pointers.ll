; What clang 14 wrote at -O1 -fno-inline, without metadata: pointers have types, as in all modules before
; LLVM 15. A list whose elements hold pointers to functions, structures by value (byval, sret), casts of
; pointers.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.big = type { [20 x i32] }
%struct.node = type { i32, %struct.node*, i32 (%struct.node*, i32)* }

@.str = private unnamed_addr constant [4 x i8] c"%d\0A\00", align 1

; Function Attrs: noinline nounwind uwtable
define dso_local i32 @main(i32 noundef %0, i8** nocapture noundef readnone %1) local_unnamed_addr #0 {
  %3 = alloca %struct.big, align 8
  %4 = bitcast %struct.big* %3 to i8*
  call void @llvm.lifetime.start.p0i8(i64 80, i8* nonnull %4) #8
  call fastcc void @fill(%struct.big* nonnull sret(%struct.big) align 4 %3, i32 noundef %0)
  br label %9

5:                                                ; preds = %9
  %6 = call fastcc i32 @sum(%struct.node* noundef %14, %struct.big* noundef nonnull byval(%struct.big) align 8 %3)
  %7 = call i32 (i8*, ...) @printf(i8* noundef nonnull dereferenceable(1) getelementptr inbounds ([4 x i8], [4 x i8]* @.str, i64 0, i64 0), i32 noundef %6)
  %8 = icmp eq %struct.node* %14, null
  br i1 %8, label %23, label %17

9:                                                ; preds = %2, %9
  %10 = phi %struct.node* [ null, %2 ], [ %14, %9 ]
  %11 = phi i32 [ 0, %2 ], [ %15, %9 ]
  %12 = mul nuw nsw i32 %11, 7
  %13 = urem i32 %12, 50
  %14 = call fastcc %struct.node* @push(%struct.node* noundef %10, i32 noundef %13)
  %15 = add nuw nsw i32 %11, 1
  %16 = icmp eq i32 %15, 50
  br i1 %16, label %5, label %9

17:                                               ; preds = %5, %17
  %18 = phi %struct.node* [ %20, %17 ], [ %14, %5 ]
  %19 = getelementptr inbounds %struct.node, %struct.node* %18, i64 0, i32 1
  %20 = load %struct.node*, %struct.node** %19, align 8
  %21 = bitcast %struct.node* %18 to i8*
  call void @free(i8* noundef %21)
  %22 = icmp eq %struct.node* %20, null
  br i1 %22, label %23, label %17

23:                                               ; preds = %17, %5
  call void @llvm.lifetime.end.p0i8(i64 80, i8* nonnull %4) #8
  ret i32 0
}

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: nofree noinline norecurse nosync nounwind uwtable writeonly
define internal fastcc void @fill(%struct.big* noalias nocapture writeonly sret(%struct.big) align 4 %0, i32 noundef %1) unnamed_addr #2 {
  %3 = srem i32 %1, 4
  br label %5

4:                                                ; preds = %5
  ret void

5:                                                ; preds = %2, %5
  %6 = phi i64 [ 0, %2 ], [ %13, %5 ]
  %7 = trunc i64 %6 to i32
  %8 = and i32 %7, 3
  %9 = icmp eq i32 %8, %3
  %10 = trunc i64 %6 to i32
  %11 = select i1 %9, i32 %10, i32 %1
  %12 = getelementptr inbounds %struct.big, %struct.big* %0, i64 0, i32 0, i64 %6
  store i32 %11, i32* %12, align 4
  %13 = add nuw nsw i64 %6, 1
  %14 = icmp eq i64 %13, 20
  br i1 %14, label %4, label %5
}

; Function Attrs: mustprogress nofree noinline nounwind uwtable willreturn
define internal fastcc noalias %struct.node* @push(%struct.node* noundef %0, i32 noundef %1) unnamed_addr #3 {
  %3 = call dereferenceable_or_null(24) i8* @malloc(i64 noundef 24)
  %4 = bitcast i8* %3 to %struct.node*
  %5 = getelementptr inbounds %struct.node, %struct.node* %4, i64 0, i32 0
  store i32 %1, i32* %5, align 8
  %6 = getelementptr inbounds %struct.node, %struct.node* %4, i64 0, i32 1
  store %struct.node* %0, %struct.node** %6, align 8
  %7 = srem i32 %1, 3
  %8 = icmp eq i32 %7, 0
  %9 = select i1 %8, i32 (%struct.node*, i32)* @odd, i32 (%struct.node*, i32)* @plain
  %10 = getelementptr inbounds %struct.node, %struct.node* %4, i64 0, i32 2
  store i32 (%struct.node*, i32)* %9, i32 (%struct.node*, i32)** %10, align 8
  ret %struct.node* %4
}

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: nofree nounwind
declare noundef i32 @printf(i8* nocapture noundef readonly, ...) local_unnamed_addr #4

; Function Attrs: noinline nounwind uwtable
define internal fastcc i32 @sum(%struct.node* noundef %0, %struct.big* nocapture noundef readonly byval(%struct.big) align 8 %1) unnamed_addr #0 {
  %3 = icmp eq %struct.node* %0, null
  br i1 %3, label %24, label %4

4:                                                ; preds = %2, %19
  %5 = phi i32 [ %20, %19 ], [ 0, %2 ]
  %6 = phi %struct.node* [ %22, %19 ], [ %0, %2 ]
  %7 = getelementptr inbounds %struct.node, %struct.node* %6, i64 0, i32 0
  %8 = load i32, i32* %7, align 8
  %9 = icmp sgt i32 %8, 40
  br i1 %9, label %19, label %10

10:                                               ; preds = %4
  %11 = getelementptr inbounds %struct.node, %struct.node* %6, i64 0, i32 2
  %12 = load i32 (%struct.node*, i32)*, i32 (%struct.node*, i32)** %11, align 8
  %13 = srem i32 %8, 20
  %14 = sext i32 %13 to i64
  %15 = getelementptr inbounds %struct.big, %struct.big* %1, i64 0, i32 0, i64 %14
  %16 = load i32, i32* %15, align 4
  %17 = call i32 %12(%struct.node* noundef nonnull %6, i32 noundef %16) #8
  %18 = add nsw i32 %17, %5
  br label %19

19:                                               ; preds = %4, %10
  %20 = phi i32 [ %5, %4 ], [ %18, %10 ]
  %21 = getelementptr inbounds %struct.node, %struct.node* %6, i64 0, i32 1
  %22 = load %struct.node*, %struct.node** %21, align 8
  %23 = icmp eq %struct.node* %22, null
  br i1 %23, label %24, label %4

24:                                               ; preds = %19, %2
  %25 = phi i32 [ 0, %2 ], [ %20, %19 ]
  ret i32 %25
}

; Function Attrs: inaccessiblemem_or_argmemonly mustprogress nounwind willreturn
declare void @free(i8* nocapture noundef) local_unnamed_addr #5

; Function Attrs: inaccessiblememonly mustprogress nofree nounwind willreturn
declare noalias noundef i8* @malloc(i64 noundef) local_unnamed_addr #6

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind readonly uwtable willreturn
define internal i32 @plain(%struct.node* nocapture noundef readonly %0, i32 noundef %1) #7 {
  %3 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 0
  %4 = load i32, i32* %3, align 8
  %5 = add nsw i32 %4, %1
  ret i32 %5
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind readonly uwtable willreturn
define internal i32 @odd(%struct.node* nocapture noundef readonly %0, i32 noundef %1) #7 {
  %3 = getelementptr inbounds %struct.node, %struct.node* %0, i64 0, i32 0
  %4 = load i32, i32* %3, align 8
  %5 = and i32 %4, 1
  %6 = icmp eq i32 %5, 0
  %7 = mul nsw i32 %4, %1
  %8 = sub nsw i32 0, %1
  %9 = select i1 %6, i32 %8, i32 %7
  ret i32 %9
}

attributes #0 = { noinline nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { argmemonly mustprogress nofree nosync nounwind willreturn }
attributes #2 = { nofree noinline norecurse nosync nounwind uwtable writeonly "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { mustprogress nofree noinline nounwind uwtable willreturn "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { nofree nounwind "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { inaccessiblemem_or_argmemonly mustprogress nounwind willreturn "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { inaccessiblememonly mustprogress nofree nounwind willreturn "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { mustprogress nofree noinline norecurse nosync nounwind readonly uwtable willreturn "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #8 = { nounwind }
