; ModuleID = 'asks.4b5617f52238865-cgu.0'
source_filename = "asks.4b5617f52238865-cgu.0"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%Kind = type { i32, [1 x i32] }

@alloc_0ca14cce97b84118c4be4efd2dddf1ab = private unnamed_addr constant [35 x i8] c"assertion failed: half(3).is_none()", align 1
@alloc_72d17f59f0ed5d42ea032c2c6fb2f134 = private unnamed_addr constant [8 x i8] c"asks.rs\00", align 1
@alloc_d52b95f5887b05395c5938c15ebd46cf = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00K\00\00\00\05\00\00\00" }>, align 8
@_ZN4asks7DROPPED17h8f766c94a2b8e0ecE = internal global [4 x i8] zeroinitializer, align 4
@alloc_3c239e207898d8f55f99eddf816c4875 = private unnamed_addr constant [26 x i8] c"assertion failed: b < 1000", align 1
@alloc_70b2be953ab9f8b1f47300705dcec33b = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00.\00\00\00\05\00\00\00" }>, align 8
@alloc_3a395b99ebfefb76e31ee2d5fefb09b3 = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00/\00\00\00\05\00\00\00" }>, align 8
@alloc_cd72f21aae0b347c7936ce089b9fcd47 = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00\07\00\00\00\12\00\00\00" }>, align 8
@alloc_9b27c2925519e0b138afe892ecd7a364 = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00>\00\00\00\05\00\00\00" }>, align 8
@alloc_6d7234de6fa532de95518a08acf8fe0e = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\008\00\00\00\16\00\00\00" }>, align 8
@alloc_8f897603864f6749665bcf11fadd1bde = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\008\00\00\00\09\00\00\00" }>, align 8
@alloc_ab0b8c2c38225423fb2c54294b8cffb8 = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\009\00\00\00\09\00\00\00" }>, align 8
@alloc_f4a2c0ba46b922ee5a9ae2e7db5c4cb7 = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00:\00\00\00\18\00\00\00" }>, align 8
@alloc_da2f3f46e0f9085b0b14712f1ae428ff = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00:\00\00\00\09\00\00\00" }>, align 8
@alloc_4f3050481b18c57740f765f1faf8eb80 = private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @alloc_72d17f59f0ed5d42ea032c2c6fb2f134, [16 x i8] c"\07\00\00\00\00\00\00\00;\00\00\00\09\00\00\00" }>, align 8
@__rustc_debug_gdb_scripts_section__ = linkonce_odr unnamed_addr constant [34 x i8] c"\01gdb_load_rust_pretty_printers.py\00", section ".debug_gdb_scripts", align 1

; __rustc::rust_begin_unwind
; Function Attrs: noreturn nounwind nonlazybind uwtable
define hidden void @_RNvCsfLfy6EI15iL_7___rustc17rust_begin_unwind(ptr align 8 %_1) unnamed_addr #0 !dbg !8 {
start:
  br label %bb1, !dbg !13

bb1:                                              ; preds = %bb1, %start
  br label %bb1, !dbg !13
}

; <core::option::Option<T> as core::ops::try_trait::FromResidual<core::option::Option<core::convert::Infallible>>>::from_residual
; Function Attrs: inlinehint nounwind nonlazybind uwtable
define internal { i32, i32 } @"_ZN145_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..FromResidual$LT$core..option..Option$LT$core..convert..Infallible$GT$$GT$$GT$13from_residual17h0185d5a53c0cf5c5E"() unnamed_addr #1 !dbg !14 {
start:
  ret { i32, i32 } { i32 0, i32 undef }, !dbg !19
}

; asks::runs_tests
; Function Attrs: nounwind nonlazybind uwtable
define internal void @_ZN4asks10runs_tests17hdfc5a15fd7ae2d68E() unnamed_addr #2 !dbg !20 {
start:
; call asks::test::test_main_static
  call void @_ZN4asks4test16test_main_static17hc74bc44744461e6eE() #6, !dbg !21
  ret void, !dbg !22
}

; asks::tests_by_closure
; Function Attrs: nounwind nonlazybind uwtable
define internal void @_ZN4asks16tests_by_closure17hcc7fac59a326b1b0E() unnamed_addr #2 !dbg !23 {
start:
; call asks::tests
  call void @_ZN4asks5tests17hcd52e79427c38aebE() #6, !dbg !24
; call asks::test::assert_test_result
  call void @_ZN4asks4test18assert_test_result17hb59b00cf78af092aE() #6, !dbg !25
  ret void, !dbg !26
}

; asks::half
; Function Attrs: nounwind nonlazybind uwtable
define internal { i32, i32 } @_ZN4asks4half17he616c3b09a5884afE(i32 %n) unnamed_addr #2 !dbg !27 {
start:
  %_0 = alloca [8 x i8], align 4
  %_3 = urem i32 %n, 2, !dbg !28
  %_2 = icmp eq i32 %_3, 0, !dbg !28
  br i1 %_2, label %bb2, label %bb4, !dbg !28

bb4:                                              ; preds = %start
  store i32 0, ptr %_0, align 4, !dbg !29
  br label %bb5, !dbg !30

bb2:                                              ; preds = %start
  %_5 = udiv i32 %n, 2, !dbg !31
  %0 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !32
  store i32 %_5, ptr %0, align 4, !dbg !32
  store i32 1, ptr %_0, align 4, !dbg !32
  br label %bb5, !dbg !30

bb5:                                              ; preds = %bb2, %bb4
  %1 = load i32, ptr %_0, align 4, !dbg !33
  %2 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !33
  %3 = load i32, ptr %2, align 4, !dbg !33
  %4 = insertvalue { i32, i32 } poison, i32 %1, 0, !dbg !33
  %5 = insertvalue { i32, i32 } %4, i32 %3, 1, !dbg !33
  ret { i32, i32 } %5, !dbg !33
}

; asks::keep
; Function Attrs: nounwind nonlazybind uwtable
define internal i32 @_ZN4asks4keep17hfdbda9d295ef68fcE(ptr align 4 %kind, ptr align 4 %kept) unnamed_addr #2 !dbg !34 {
start:
  %_17 = alloca [1 x i8], align 1
  %n = alloca [8 x i8], align 8
  %noisy = alloca [4 x i8], align 4
  %_0 = alloca [4 x i8], align 4
  store i8 0, ptr %_17, align 1, !dbg !35
  store i8 1, ptr %_17, align 1, !dbg !36
  store i32 1, ptr %noisy, align 4, !dbg !36
  %0 = load i32, ptr %kind, align 4, !dbg !37
  %1 = getelementptr inbounds i8, ptr %kind, i64 4, !dbg !37
  %2 = load i32, ptr %1, align 4, !dbg !37
  %_4 = zext i32 %0 to i64, !dbg !37
  %3 = icmp eq i64 %_4, 1, !dbg !40
  br i1 %3, label %bb1, label %bb4, !dbg !40

bb1:                                              ; preds = %start
  %n1 = getelementptr inbounds i8, ptr %kind, i64 4, !dbg !41
  %_7 = load i32, ptr %n1, align 4, !dbg !42
  %_6 = icmp ugt i32 %_7, 3, !dbg !42
  br i1 %_6, label %bb2, label %bb4, !dbg !42

bb4:                                              ; preds = %bb2, %bb1, %start
  %4 = load i32, ptr %kind, align 4, !dbg !43
  %5 = getelementptr inbounds i8, ptr %kind, i64 4, !dbg !43
  %6 = load i32, ptr %5, align 4, !dbg !43
  %_10 = zext i32 %4 to i64, !dbg !43
  switch i64 %_10, label %bb5 [
    i64 0, label %bb8
    i64 1, label %bb7
    i64 2, label %bb6
  ], !dbg !44

bb2:                                              ; preds = %bb1
  store i8 0, ptr %_17, align 1, !dbg !45
  %_9 = load i32, ptr %noisy, align 4, !dbg !45
; call core::ptr::drop_in_place<core::option::Option<asks::Noisy>>
  call void @"_ZN4core3ptr60drop_in_place$LT$core..option..Option$LT$asks..Noisy$GT$$GT$17hdfaf05447e117e48E"(ptr align 4 %kept) #6, !dbg !46
  store i32 1, ptr %kept, align 4, !dbg !46
  %7 = getelementptr inbounds i8, ptr %kept, i64 4, !dbg !46
  store i32 %_9, ptr %7, align 4, !dbg !46
  br label %bb4, !dbg !47

bb5:                                              ; preds = %bb4
  unreachable, !dbg !43

bb8:                                              ; preds = %bb4
  store i32 1, ptr %_0, align 4, !dbg !48
  br label %bb13, !dbg !48

bb7:                                              ; preds = %bb4
  %8 = getelementptr inbounds i8, ptr %kind, i64 4, !dbg !49
  store ptr %8, ptr %n, align 8, !dbg !49
  %_16 = load ptr, ptr %n, align 8, !dbg !50
  %_14 = load i32, ptr %_16, align 4, !dbg !50
  %_13 = icmp ugt i32 %_14, 2, !dbg !50
  br i1 %_13, label %bb9, label %bb10, !dbg !50

bb6:                                              ; preds = %bb4
  %size = getelementptr inbounds i8, ptr %kind, i64 4, !dbg !51
  %9 = load i32, ptr %size, align 4, !dbg !52
  store i32 %9, ptr %_0, align 4, !dbg !52
  br label %bb13, !dbg !54

bb13:                                             ; preds = %bb6, %bb9, %bb10, %bb8
  %10 = load i8, ptr %_17, align 1, !dbg !55
  %11 = trunc nuw i8 %10 to i1, !dbg !55
  br i1 %11, label %bb12, label %bb11, !dbg !55

bb10:                                             ; preds = %bb7
  store i32 7, ptr %_0, align 4, !dbg !56
  br label %bb13, !dbg !56

bb9:                                              ; preds = %bb7
  %12 = load ptr, ptr %n, align 8, !dbg !57
  %13 = load i32, ptr %12, align 4, !dbg !57
  store i32 %13, ptr %_0, align 4, !dbg !57
  br label %bb13, !dbg !59

bb11:                                             ; preds = %bb12, %bb13
  store i8 0, ptr %_17, align 1, !dbg !55
  %14 = load i32, ptr %_0, align 4, !dbg !60
  ret i32 %14, !dbg !60

bb12:                                             ; preds = %bb13
; call core::ptr::drop_in_place<asks::Noisy>
  call void @"_ZN4core3ptr32drop_in_place$LT$asks..Noisy$GT$17hf708e6c3374229fbE"(ptr align 4 %noisy) #6, !dbg !55
  br label %bb11, !dbg !55
}

; asks::test::test_main_static
; Function Attrs: nounwind nonlazybind uwtable
define internal void @_ZN4asks4test16test_main_static17hc74bc44744461e6eE() unnamed_addr #2 !dbg !61 {
start:
; call asks::tests_by_closure
  call void @_ZN4asks16tests_by_closure17hcc7fac59a326b1b0E() #6, !dbg !63
  ret void, !dbg !64
}

; asks::test::assert_test_result
; Function Attrs: nounwind nonlazybind uwtable
define internal void @_ZN4asks4test18assert_test_result17hb59b00cf78af092aE() unnamed_addr #2 !dbg !65 {
start:
  ret void, !dbg !66
}

; asks::tests
; Function Attrs: nounwind nonlazybind uwtable
define internal void @_ZN4asks5tests17hcd52e79427c38aebE() unnamed_addr #2 !dbg !67 {
start:
  %_3 = alloca [8 x i8], align 4
; call asks::half
  %0 = call { i32, i32 } @_ZN4asks4half17he616c3b09a5884afE(i32 3) #6, !dbg !68
  %1 = extractvalue { i32, i32 } %0, 0, !dbg !68
  %2 = extractvalue { i32, i32 } %0, 1, !dbg !68
  store i32 %1, ptr %_3, align 4, !dbg !68
  %3 = getelementptr inbounds i8, ptr %_3, i64 4, !dbg !68
  store i32 %2, ptr %3, align 4, !dbg !68
; call core::option::Option<T>::is_none
  %_1 = call zeroext i1 @"_ZN4core6option15Option$LT$T$GT$7is_none17hfb87fca3f314143aE"(ptr align 4 %_3) #7, !dbg !69
  br i1 %_1, label %bb3, label %bb4, !dbg !68

bb4:                                              ; preds = %start
; call core::panicking::panic
  call void @_RNvNtCsgEmfK2I1SDS_4core9panicking5panic(ptr align 1 @alloc_0ca14cce97b84118c4be4efd2dddf1ab, i64 35, ptr align 8 @alloc_d52b95f5887b05395c5938c15ebd46cf) #8, !dbg !70
  unreachable, !dbg !70

bb3:                                              ; preds = %start
  ret void, !dbg !71
}

; asks::checked
; Function Attrs: nounwind nonlazybind uwtable
define internal i32 @_ZN4asks7checked17h02e410438d2b940fE(i32 %a, i32 %b) unnamed_addr #2 !dbg !72 {
start:
  %_0 = alloca [4 x i8], align 4
  %_3 = icmp ne i32 %a, 3, !dbg !73
  br i1 %_3, label %bb1, label %bb2, !dbg !73

bb2:                                              ; preds = %start
  store i32 0, ptr %_0, align 4, !dbg !74
  br label %bb6, !dbg !75

bb1:                                              ; preds = %start
  %_4 = icmp ult i32 %b, 1000, !dbg !76
  br i1 %_4, label %bb3, label %bb4, !dbg !76

bb6:                                              ; preds = %bb5, %bb2
  %0 = load i32, ptr %_0, align 4, !dbg !75
  ret i32 %0, !dbg !75

bb4:                                              ; preds = %bb1
; call core::panicking::panic
  call void @_RNvNtCsgEmfK2I1SDS_4core9panicking5panic(ptr align 1 @alloc_3c239e207898d8f55f99eddf816c4875, i64 26, ptr align 8 @alloc_70b2be953ab9f8b1f47300705dcec33b) #8, !dbg !77
  unreachable, !dbg !77

bb3:                                              ; preds = %bb1
  %_6.0 = add i32 %a, %b, !dbg !78
  %_6.1 = icmp ult i32 %_6.0, %a, !dbg !78
  br i1 %_6.1, label %panic, label %bb5, !dbg !78

bb5:                                              ; preds = %bb3
  store i32 %_6.0, ptr %_0, align 4, !dbg !78
  br label %bb6, !dbg !75

panic:                                            ; preds = %bb3
; call core::panicking::panic_const::panic_const_add_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow(ptr align 8 @alloc_3a395b99ebfefb76e31ee2d5fefb09b3) #8, !dbg !78
  unreachable, !dbg !78
}

; asks::quarter
; Function Attrs: nounwind nonlazybind uwtable
define internal { i32, i32 } @_ZN4asks7quarter17h94bcfedaa22361c9E(i32 %n) unnamed_addr #2 !dbg !79 {
start:
  %_6 = alloca [8 x i8], align 4
  %_2 = alloca [8 x i8], align 4
  %_0 = alloca [8 x i8], align 4
; call asks::half
  %0 = call { i32, i32 } @_ZN4asks4half17he616c3b09a5884afE(i32 %n) #6, !dbg !80
  %_3.0 = extractvalue { i32, i32 } %0, 0, !dbg !80
  %_3.1 = extractvalue { i32, i32 } %0, 1, !dbg !80
; call <core::option::Option<T> as core::ops::try_trait::Try>::branch
  %1 = call { i32, i32 } @"_ZN75_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..Try$GT$6branch17h6967647c071975daE"(i32 %_3.0, i32 %_3.1) #7, !dbg !80
  %2 = extractvalue { i32, i32 } %1, 0, !dbg !80
  %3 = extractvalue { i32, i32 } %1, 1, !dbg !80
  store i32 %2, ptr %_2, align 4, !dbg !80
  %4 = getelementptr inbounds i8, ptr %_2, i64 4, !dbg !80
  store i32 %3, ptr %4, align 4, !dbg !80
  %5 = load i32, ptr %_2, align 4, !dbg !80
  %6 = getelementptr inbounds i8, ptr %_2, i64 4, !dbg !80
  %7 = load i32, ptr %6, align 4, !dbg !80
  %_4 = zext i32 %5 to i64, !dbg !80
  %8 = trunc nuw i64 %_4 to i1, !dbg !80
  br i1 %8, label %bb5, label %bb4, !dbg !80

bb5:                                              ; preds = %start
; call <core::option::Option<T> as core::ops::try_trait::FromResidual<core::option::Option<core::convert::Infallible>>>::from_residual
  %9 = call { i32, i32 } @"_ZN145_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..FromResidual$LT$core..option..Option$LT$core..convert..Infallible$GT$$GT$$GT$13from_residual17h0185d5a53c0cf5c5E"() #7, !dbg !81
  %10 = extractvalue { i32, i32 } %9, 0, !dbg !81
  %11 = extractvalue { i32, i32 } %9, 1, !dbg !81
  store i32 %10, ptr %_0, align 4, !dbg !81
  %12 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !81
  store i32 %11, ptr %12, align 4, !dbg !81
  br label %bb10, !dbg !81

bb4:                                              ; preds = %start
  %13 = getelementptr inbounds i8, ptr %_2, i64 4, !dbg !80
  %once = load i32, ptr %13, align 4, !dbg !80
; call asks::half
  %14 = call { i32, i32 } @_ZN4asks4half17he616c3b09a5884afE(i32 %once) #6, !dbg !84
  %_7.0 = extractvalue { i32, i32 } %14, 0, !dbg !84
  %_7.1 = extractvalue { i32, i32 } %14, 1, !dbg !84
; call <core::option::Option<T> as core::ops::try_trait::Try>::branch
  %15 = call { i32, i32 } @"_ZN75_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..Try$GT$6branch17h6967647c071975daE"(i32 %_7.0, i32 %_7.1) #7, !dbg !84
  %16 = extractvalue { i32, i32 } %15, 0, !dbg !84
  %17 = extractvalue { i32, i32 } %15, 1, !dbg !84
  store i32 %16, ptr %_6, align 4, !dbg !84
  %18 = getelementptr inbounds i8, ptr %_6, i64 4, !dbg !84
  store i32 %17, ptr %18, align 4, !dbg !84
  %19 = load i32, ptr %_6, align 4, !dbg !84
  %20 = getelementptr inbounds i8, ptr %_6, i64 4, !dbg !84
  %21 = load i32, ptr %20, align 4, !dbg !84
  %_8 = zext i32 %19 to i64, !dbg !84
  %22 = trunc nuw i64 %_8 to i1, !dbg !84
  br i1 %22, label %bb9, label %bb8, !dbg !84

bb9:                                              ; preds = %bb4
; call <core::option::Option<T> as core::ops::try_trait::FromResidual<core::option::Option<core::convert::Infallible>>>::from_residual
  %23 = call { i32, i32 } @"_ZN145_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..FromResidual$LT$core..option..Option$LT$core..convert..Infallible$GT$$GT$$GT$13from_residual17h0185d5a53c0cf5c5E"() #7, !dbg !86
  %24 = extractvalue { i32, i32 } %23, 0, !dbg !86
  %25 = extractvalue { i32, i32 } %23, 1, !dbg !86
  store i32 %24, ptr %_0, align 4, !dbg !86
  %26 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !86
  store i32 %25, ptr %26, align 4, !dbg !86
  br label %bb10, !dbg !86

bb8:                                              ; preds = %bb4
  %27 = getelementptr inbounds i8, ptr %_6, i64 4, !dbg !84
  %twice = load i32, ptr %27, align 4, !dbg !84
  %28 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !89
  store i32 %twice, ptr %28, align 4, !dbg !89
  store i32 1, ptr %_0, align 4, !dbg !89
  br label %bb10, !dbg !91

bb10:                                             ; preds = %bb5, %bb9, %bb8
  %29 = load i32, ptr %_0, align 4, !dbg !91
  %30 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !91
  %31 = load i32, ptr %30, align 4, !dbg !91
  %32 = insertvalue { i32, i32 } poison, i32 %29, 0, !dbg !91
  %33 = insertvalue { i32, i32 } %32, i32 %31, 1, !dbg !91
  ret { i32, i32 } %33, !dbg !91

bb3:                                              ; No predecessors!
  unreachable, !dbg !92
}

; core::ptr::drop_in_place<asks::Noisy>
; Function Attrs: nounwind nonlazybind uwtable
define internal void @"_ZN4core3ptr32drop_in_place$LT$asks..Noisy$GT$17hf708e6c3374229fbE"(ptr align 4 %_1) unnamed_addr #2 !dbg !93 {
start:
; call <asks::Noisy as core::ops::drop::Drop>::drop
  call void @"_ZN53_$LT$asks..Noisy$u20$as$u20$core..ops..drop..Drop$GT$4drop17h1a744c35c2266ab3E"(ptr align 4 %_1) #6, !dbg !96
  ret void, !dbg !96
}

; core::ptr::drop_in_place<core::option::Option<asks::Noisy>>
; Function Attrs: nounwind nonlazybind uwtable
define internal void @"_ZN4core3ptr60drop_in_place$LT$core..option..Option$LT$asks..Noisy$GT$$GT$17hdfaf05447e117e48E"(ptr align 4 %_1) unnamed_addr #2 !dbg !97 {
start:
  %0 = load i32, ptr %_1, align 4, !dbg !98
  %1 = getelementptr inbounds i8, ptr %_1, i64 4, !dbg !98
  %2 = load i32, ptr %1, align 4, !dbg !98
  %_2 = zext i32 %0 to i64, !dbg !98
  %3 = icmp eq i64 %_2, 0, !dbg !98
  br i1 %3, label %bb1, label %bb2, !dbg !98

bb1:                                              ; preds = %bb2, %start
  ret void, !dbg !98

bb2:                                              ; preds = %start
  %4 = getelementptr inbounds i8, ptr %_1, i64 4, !dbg !98
; call core::ptr::drop_in_place<asks::Noisy>
  call void @"_ZN4core3ptr32drop_in_place$LT$asks..Noisy$GT$17hf708e6c3374229fbE"(ptr align 4 %4) #6, !dbg !98
  br label %bb1, !dbg !98
}

; core::option::Option<T>::is_none
; Function Attrs: inlinehint nounwind nonlazybind uwtable
define internal zeroext i1 @"_ZN4core6option15Option$LT$T$GT$7is_none17hfb87fca3f314143aE"(ptr align 4 %self) unnamed_addr #1 !dbg !99 {
start:
  %0 = load i32, ptr %self, align 4, !dbg !101
  %1 = getelementptr inbounds i8, ptr %self, i64 4, !dbg !101
  %2 = load i32, ptr %1, align 4, !dbg !101
  %_3 = zext i32 %0 to i64, !dbg !101
  %_2 = icmp eq i64 %_3, 1, !dbg !107
  %_0 = xor i1 %_2, true, !dbg !108
  ret i1 %_0, !dbg !109
}

; core::option::Option<T>::unwrap_or
; Function Attrs: inlinehint nounwind nonlazybind uwtable
define internal i32 @"_ZN4core6option15Option$LT$T$GT$9unwrap_or17h523510a55264b699E"(i32 %0, i32 %1, i32 %default) unnamed_addr #1 !dbg !110 {
start:
  %x = alloca [4 x i8], align 4
  %self = alloca [8 x i8], align 4
  store i32 %0, ptr %self, align 4
  %2 = getelementptr inbounds i8, ptr %self, i64 4
  store i32 %1, ptr %2, align 4
  %3 = load i32, ptr %self, align 4, !dbg !111
  %4 = getelementptr inbounds i8, ptr %self, i64 4, !dbg !111
  %5 = load i32, ptr %4, align 4, !dbg !111
  %_3 = zext i32 %3 to i64, !dbg !111
  %6 = trunc nuw i64 %_3 to i1, !dbg !112
  br i1 %6, label %bb3, label %bb2, !dbg !112

bb3:                                              ; preds = %start
  %7 = getelementptr inbounds i8, ptr %self, i64 4, !dbg !113
  %8 = load i32, ptr %7, align 4, !dbg !113
  store i32 %8, ptr %x, align 4, !dbg !113
  br label %bb4, !dbg !114

bb2:                                              ; preds = %start
  store i32 %default, ptr %x, align 4, !dbg !115
  br label %bb4, !dbg !115

bb4:                                              ; preds = %bb3, %bb2
  %9 = load i32, ptr %x, align 4, !dbg !116
  ret i32 %9, !dbg !116

bb1:                                              ; No predecessors!
  unreachable, !dbg !111
}

; <asks::Noisy as core::ops::drop::Drop>::drop
; Function Attrs: nounwind nonlazybind uwtable
define internal void @"_ZN53_$LT$asks..Noisy$u20$as$u20$core..ops..drop..Drop$GT$4drop17h1a744c35c2266ab3E"(ptr align 4 %self) unnamed_addr #2 !dbg !117 {
start:
  %_2 = load i32, ptr %self, align 4, !dbg !119
  %0 = load i32, ptr @_ZN4asks7DROPPED17h8f766c94a2b8e0ecE, align 4, !dbg !120
  %_4.0 = add i32 %0, %_2, !dbg !120
  %_4.1 = icmp ult i32 %_4.0, %0, !dbg !120
  br i1 %_4.1, label %panic, label %bb1, !dbg !120

bb1:                                              ; preds = %start
  store i32 %_4.0, ptr @_ZN4asks7DROPPED17h8f766c94a2b8e0ecE, align 4, !dbg !120
  ret void, !dbg !121

panic:                                            ; preds = %start
; call core::panicking::panic_const::panic_const_add_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow(ptr align 8 @alloc_cd72f21aae0b347c7936ce089b9fcd47) #8, !dbg !120
  unreachable, !dbg !120
}

; <core::option::Option<T> as core::ops::try_trait::Try>::branch
; Function Attrs: inlinehint nounwind nonlazybind uwtable
define internal { i32, i32 } @"_ZN75_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..Try$GT$6branch17h6967647c071975daE"(i32 %0, i32 %1) unnamed_addr #1 !dbg !122 {
start:
  %_0 = alloca [8 x i8], align 4
  %self = alloca [8 x i8], align 4
  store i32 %0, ptr %self, align 4
  %2 = getelementptr inbounds i8, ptr %self, i64 4
  store i32 %1, ptr %2, align 4
  %3 = load i32, ptr %self, align 4, !dbg !124
  %4 = getelementptr inbounds i8, ptr %self, i64 4, !dbg !124
  %5 = load i32, ptr %4, align 4, !dbg !124
  %_2 = zext i32 %3 to i64, !dbg !124
  %6 = trunc nuw i64 %_2 to i1, !dbg !125
  br i1 %6, label %bb3, label %bb2, !dbg !125

bb3:                                              ; preds = %start
  %7 = getelementptr inbounds i8, ptr %self, i64 4, !dbg !126
  %v = load i32, ptr %7, align 4, !dbg !126
  %8 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !127
  store i32 %v, ptr %8, align 4, !dbg !127
  store i32 0, ptr %_0, align 4, !dbg !127
  br label %bb4, !dbg !129

bb2:                                              ; preds = %start
  store i32 1, ptr %_0, align 4, !dbg !130
  br label %bb4, !dbg !131

bb4:                                              ; preds = %bb3, %bb2
  %9 = load i32, ptr %_0, align 4, !dbg !132
  %10 = getelementptr inbounds i8, ptr %_0, i64 4, !dbg !132
  %11 = load i32, ptr %10, align 4, !dbg !132
  %12 = insertvalue { i32, i32 } poison, i32 %9, 0, !dbg !132
  %13 = insertvalue { i32, i32 } %12, i32 %11, 1, !dbg !132
  ret { i32, i32 } %13, !dbg !132

bb1:                                              ; No predecessors!
  unreachable, !dbg !124
}

; Function Attrs: nounwind nonlazybind uwtable
define dso_local i32 @main() unnamed_addr #2 !dbg !133 {
start:
  %i = alloca [8 x i8], align 8
  %kinds = alloca [40 x i8], align 4
  %kept = alloca [8 x i8], align 4
  %sum = alloca [4 x i8], align 4
  store i32 0, ptr %sum, align 4, !dbg !134
  store i32 0, ptr %kept, align 4, !dbg !135
  %0 = getelementptr inbounds nuw %Kind, ptr %kinds, i64 0, !dbg !137
  store i32 0, ptr %0, align 4, !dbg !137
  %1 = getelementptr inbounds i8, ptr %0, i64 4, !dbg !137
  store i32 undef, ptr %1, align 4, !dbg !137
  %2 = getelementptr inbounds nuw %Kind, ptr %kinds, i64 1, !dbg !137
  store i32 1, ptr %2, align 4, !dbg !137
  %3 = getelementptr inbounds i8, ptr %2, i64 4, !dbg !137
  store i32 2, ptr %3, align 4, !dbg !137
  %4 = getelementptr inbounds nuw %Kind, ptr %kinds, i64 2, !dbg !137
  store i32 1, ptr %4, align 4, !dbg !137
  %5 = getelementptr inbounds i8, ptr %4, i64 4, !dbg !137
  store i32 3, ptr %5, align 4, !dbg !137
  %6 = getelementptr inbounds nuw %Kind, ptr %kinds, i64 3, !dbg !137
  store i32 1, ptr %6, align 4, !dbg !137
  %7 = getelementptr inbounds i8, ptr %6, i64 4, !dbg !137
  store i32 9, ptr %7, align 4, !dbg !137
  %8 = getelementptr inbounds nuw %Kind, ptr %kinds, i64 4, !dbg !137
  store i32 2, ptr %8, align 4, !dbg !137
  %9 = getelementptr inbounds i8, ptr %8, i64 4, !dbg !137
  store i32 4, ptr %9, align 4, !dbg !137
  store i64 0, ptr %i, align 8, !dbg !139
  br label %bb1, !dbg !141

bb1:                                              ; preds = %bb12, %start
  %_11 = load i64, ptr %i, align 8, !dbg !143
  %_10 = icmp ult i64 %_11, 5, !dbg !143
  br i1 %_10, label %bb2, label %bb13, !dbg !143

bb13:                                             ; preds = %bb1
; call asks::runs_tests
  call void @_ZN4asks10runs_tests17hdfc5a15fd7ae2d68E() #6, !dbg !144
  %_32 = load i32, ptr %sum, align 4, !dbg !145
  %_33 = load i32, ptr %sum, align 4, !dbg !146
  %_34.0 = sub i32 %_32, %_33, !dbg !147
  %_34.1 = icmp ult i32 %_32, %_33, !dbg !147
  br i1 %_34.1, label %panic, label %bb15, !dbg !147

bb2:                                              ; preds = %bb1
  %_14 = load i64, ptr %i, align 8, !dbg !148
  %_15 = icmp ult i64 %_14, 5, !dbg !149
  br i1 %_15, label %bb3, label %panic1, !dbg !149

bb15:                                             ; preds = %bb13
; call core::ptr::drop_in_place<core::option::Option<asks::Noisy>>
  call void @"_ZN4core3ptr60drop_in_place$LT$core..option..Option$LT$asks..Noisy$GT$$GT$17hdfaf05447e117e48E"(ptr align 4 %kept) #6, !dbg !150
  ret i32 %_34.0, !dbg !151

panic:                                            ; preds = %bb13
; call core::panicking::panic_const::panic_const_sub_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_sub_overflow(ptr align 8 @alloc_9b27c2925519e0b138afe892ecd7a364) #8, !dbg !147
  unreachable, !dbg !147

bb3:                                              ; preds = %bb2
  %_13 = getelementptr inbounds nuw %Kind, ptr %kinds, i64 %_14, !dbg !152
; call asks::keep
  %_12 = call i32 @_ZN4asks4keep17hfdbda9d295ef68fcE(ptr align 4 %_13, ptr align 4 %kept) #6, !dbg !153
  %10 = load i32, ptr %sum, align 4, !dbg !154
  %_17.0 = add i32 %10, %_12, !dbg !154
  %_17.1 = icmp ult i32 %_17.0, %10, !dbg !154
  br i1 %_17.1, label %panic2, label %bb5, !dbg !154

panic1:                                           ; preds = %bb2
; call core::panicking::panic_bounds_check
  call void @_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check(i64 %_14, i64 5, ptr align 8 @alloc_6d7234de6fa532de95518a08acf8fe0e) #8, !dbg !149
  unreachable, !dbg !149

bb5:                                              ; preds = %bb3
  store i32 %_17.0, ptr %sum, align 4, !dbg !154
  %_20 = load i64, ptr %i, align 8, !dbg !155
  %_19 = trunc i64 %_20 to i32, !dbg !155
; call asks::checked
  %_18 = call i32 @_ZN4asks7checked17h02e410438d2b940fE(i32 %_19, i32 2) #6, !dbg !156
  %11 = load i32, ptr %sum, align 4, !dbg !157
  %_21.0 = add i32 %11, %_18, !dbg !157
  %_21.1 = icmp ult i32 %_21.0, %11, !dbg !157
  br i1 %_21.1, label %panic3, label %bb7, !dbg !157

panic2:                                           ; preds = %bb3
; call core::panicking::panic_const::panic_const_add_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow(ptr align 8 @alloc_8f897603864f6749665bcf11fadd1bde) #8, !dbg !154
  unreachable, !dbg !154

bb7:                                              ; preds = %bb5
  store i32 %_21.0, ptr %sum, align 4, !dbg !157
  %_26 = load i64, ptr %i, align 8, !dbg !158
  %_25 = trunc i64 %_26 to i32, !dbg !158
  %12 = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %_25, i32 2), !dbg !158
  %_27.0 = extractvalue { i32, i1 } %12, 0, !dbg !158
  %_27.1 = extractvalue { i32, i1 } %12, 1, !dbg !158
  br i1 %_27.1, label %panic4, label %bb8, !dbg !158

panic3:                                           ; preds = %bb5
; call core::panicking::panic_const::panic_const_add_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow(ptr align 8 @alloc_ab0b8c2c38225423fb2c54294b8cffb8) #8, !dbg !157
  unreachable, !dbg !157

bb8:                                              ; preds = %bb7
; call asks::quarter
  %13 = call { i32, i32 } @_ZN4asks7quarter17h94bcfedaa22361c9E(i32 %_27.0) #6, !dbg !159
  %_23.0 = extractvalue { i32, i32 } %13, 0, !dbg !159
  %_23.1 = extractvalue { i32, i32 } %13, 1, !dbg !159
; call core::option::Option<T>::unwrap_or
  %_22 = call i32 @"_ZN4core6option15Option$LT$T$GT$9unwrap_or17h523510a55264b699E"(i32 %_23.0, i32 %_23.1, i32 1) #7, !dbg !160
  %14 = load i32, ptr %sum, align 4, !dbg !161
  %_28.0 = add i32 %14, %_22, !dbg !161
  %_28.1 = icmp ult i32 %_28.0, %14, !dbg !161
  br i1 %_28.1, label %panic5, label %bb11, !dbg !161

panic4:                                           ; preds = %bb7
; call core::panicking::panic_const::panic_const_mul_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_mul_overflow(ptr align 8 @alloc_f4a2c0ba46b922ee5a9ae2e7db5c4cb7) #8, !dbg !158
  unreachable, !dbg !158

bb11:                                             ; preds = %bb8
  store i32 %_28.0, ptr %sum, align 4, !dbg !161
  %15 = load i64, ptr %i, align 8, !dbg !162
  %_29.0 = add i64 %15, 1, !dbg !162
  %_29.1 = icmp ult i64 %_29.0, %15, !dbg !162
  br i1 %_29.1, label %panic6, label %bb12, !dbg !162

panic5:                                           ; preds = %bb8
; call core::panicking::panic_const::panic_const_add_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow(ptr align 8 @alloc_da2f3f46e0f9085b0b14712f1ae428ff) #8, !dbg !161
  unreachable, !dbg !161

bb12:                                             ; preds = %bb11
  store i64 %_29.0, ptr %i, align 8, !dbg !162
  br label %bb1, !dbg !141

panic6:                                           ; preds = %bb11
; call core::panicking::panic_const::panic_const_add_overflow
  call void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow(ptr align 8 @alloc_4f3050481b18c57740f765f1faf8eb80) #8, !dbg !162
  unreachable, !dbg !162
}

; core::panicking::panic
; Function Attrs: cold noinline noreturn nounwind nonlazybind uwtable
define void @_RNvNtCsgEmfK2I1SDS_4core9panicking5panic(ptr align 1, i64, ptr align 8) unnamed_addr #3 {
  unreachable
}

; core::panicking::panic_const::panic_const_add_overflow
; Function Attrs: cold noinline noreturn nounwind nonlazybind uwtable
define void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow(ptr align 8) unnamed_addr #3 {
  unreachable
}

; core::panicking::panic_const::panic_const_sub_overflow
; Function Attrs: cold noinline noreturn nounwind nonlazybind uwtable
define void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_sub_overflow(ptr align 8) unnamed_addr #3 {
  unreachable
}

; core::panicking::panic_bounds_check
; Function Attrs: cold minsize noinline noreturn nounwind nonlazybind optsize uwtable
define void @_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check(i64, i64, ptr align 8) unnamed_addr #4 {
  unreachable
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32) #5

; core::panicking::panic_const::panic_const_mul_overflow
; Function Attrs: cold noinline noreturn nounwind nonlazybind uwtable
define void @_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_mul_overflow(ptr align 8) unnamed_addr #3 {
  unreachable
}

attributes #0 = { noreturn nounwind nonlazybind uwtable "probe-stack"="inline-asm" "target-cpu"="x86-64" }
attributes #1 = { inlinehint nounwind nonlazybind uwtable "probe-stack"="inline-asm" "target-cpu"="x86-64" }
attributes #2 = { nounwind nonlazybind uwtable "probe-stack"="inline-asm" "target-cpu"="x86-64" }
attributes #3 = { cold noinline noreturn nounwind nonlazybind uwtable "probe-stack"="inline-asm" "target-cpu"="x86-64" }
attributes #4 = { cold minsize noinline noreturn nounwind nonlazybind optsize uwtable "probe-stack"="inline-asm" "target-cpu"="x86-64" }
attributes #5 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { nounwind }
attributes #7 = { inlinehint nounwind }
attributes #8 = { noinline noreturn nounwind }

!llvm.module.flags = !{!0, !1, !2, !3, !4}
!llvm.ident = !{!5}
!llvm.dbg.cu = !{!6}

!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{i32 7, !"PIE Level", i32 2}
!2 = !{i32 2, !"RtLibUseGOT", i32 1}
!3 = !{i32 7, !"Dwarf Version", i32 4}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = !{!"rustc version 1.95.0 (59807616e 2026-04-14)"}
!6 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !7, producer: "clang LLVM (rustc version 1.95.0 (59807616e 2026-04-14))", isOptimized: false, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!7 = !DIFile(filename: "asks.rs/@/asks.4b5617f52238865-cgu.0", directory: "/p")
!8 = distinct !DISubprogram(name: "panic", linkageName: "_RNvCsfLfy6EI15iL_7___rustc17rust_begin_unwind", scope: !10, file: !9, line: 65, type: !11, scopeLine: 65, flags: DIFlagPrototyped | DIFlagNoReturn, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!9 = !DIFile(filename: "asks.rs", directory: "/p", checksumkind: CSK_MD5, checksum: "804527b0122f9b805b90a3f4dc791254")
!10 = !DINamespace(name: "asks", scope: null)
!11 = !DISubroutineType(types: !12)
!12 = !{}
!13 = !DILocation(line: 66, column: 5, scope: !8)
!14 = distinct !DISubprogram(name: "from_residual<u32>", linkageName: "_ZN145_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..FromResidual$LT$core..option..Option$LT$core..convert..Infallible$GT$$GT$$GT$13from_residual17h0185d5a53c0cf5c5E", scope: !16, file: !15, line: 2779, type: !11, scopeLine: 2779, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!15 = !DIFile(filename: "library/core/src/option.rs", directory: "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860", checksumkind: CSK_MD5, checksum: "3f12dd837a95e960b90752f70f5ddc0e")
!16 = !DINamespace(name: "{impl#48}", scope: !17)
!17 = !DINamespace(name: "option", scope: !18)
!18 = !DINamespace(name: "core", scope: null)
!19 = !DILocation(line: 2783, column: 6, scope: !14)
!20 = distinct !DISubprogram(name: "runs_tests", linkageName: "_ZN4asks10runs_tests17hdfc5a15fd7ae2d68E", scope: !10, file: !9, line: 1, type: !11, scopeLine: 1, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!21 = !DILocation(line: 1, column: 5, scope: !20)
!22 = !DILocation(line: 1, column: 2, scope: !20)
!23 = distinct !DISubprogram(name: "tests_by_closure", linkageName: "_ZN4asks16tests_by_closure17hcc7fac59a326b1b0E", scope: !10, file: !9, line: 74, type: !11, scopeLine: 74, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!24 = !DILocation(line: 74, column: 5, scope: !23)
!25 = !DILocation(line: 74, column: 5, scope: !23)
!26 = !DILocation(line: 74, column: 2, scope: !23)
!27 = distinct !DISubprogram(name: "half", linkageName: "_ZN4asks4half17he616c3b09a5884afE", scope: !10, file: !9, line: 22, type: !11, scopeLine: 22, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!28 = !DILocation(line: 23, column: 8, scope: !27)
!29 = !DILocation(line: 23, column: 42, scope: !27)
!30 = !DILocation(line: 23, column: 5, scope: !27)
!31 = !DILocation(line: 23, column: 26, scope: !27)
!32 = !DILocation(line: 23, column: 21, scope: !27)
!33 = !DILocation(line: 24, column: 2, scope: !27)
!34 = distinct !DISubprogram(name: "keep", linkageName: "_ZN4asks4keep17hfdbda9d295ef68fcE", scope: !10, file: !9, line: 30, type: !11, scopeLine: 30, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!35 = !DILocation(line: 31, column: 9, scope: !34)
!36 = !DILocation(line: 31, column: 17, scope: !34)
!37 = !DILocation(line: 32, column: 29, scope: !38)
!38 = distinct !DILexicalBlock(scope: !39, file: !9, line: 32, column: 34)
!39 = distinct !DILexicalBlock(scope: !34, file: !9, line: 31, column: 5)
!40 = !DILocation(line: 32, column: 12, scope: !38)
!41 = !DILocation(line: 32, column: 24, scope: !38)
!42 = !DILocation(line: 33, column: 12, scope: !38)
!43 = !DILocation(line: 37, column: 11, scope: !39)
!44 = !DILocation(line: 37, column: 5, scope: !39)
!45 = !DILocation(line: 34, column: 26, scope: !38)
!46 = !DILocation(line: 34, column: 13, scope: !38)
!47 = !DILocation(line: 33, column: 9, scope: !38)
!48 = !DILocation(line: 38, column: 24, scope: !39)
!49 = !DILocation(line: 39, column: 21, scope: !39)
!50 = !DILocation(line: 39, column: 27, scope: !39)
!51 = !DILocation(line: 41, column: 23, scope: !39)
!52 = !DILocation(line: 41, column: 33, scope: !53)
!53 = distinct !DILexicalBlock(scope: !39, file: !9, line: 41, column: 9)
!54 = !DILocation(line: 41, column: 37, scope: !39)
!55 = !DILocation(line: 43, column: 1, scope: !34)
!56 = !DILocation(line: 40, column: 27, scope: !39)
!57 = !DILocation(line: 39, column: 37, scope: !58)
!58 = distinct !DILexicalBlock(scope: !39, file: !9, line: 39, column: 9)
!59 = !DILocation(line: 39, column: 38, scope: !39)
!60 = !DILocation(line: 43, column: 2, scope: !34)
!61 = distinct !DISubprogram(name: "test_main_static", linkageName: "_ZN4asks4test16test_main_static17hc74bc44744461e6eE", scope: !62, file: !9, line: 70, type: !11, scopeLine: 70, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!62 = !DINamespace(name: "test", scope: !10)
!63 = !DILocation(line: 71, column: 9, scope: !61)
!64 = !DILocation(line: 72, column: 6, scope: !61)
!65 = distinct !DISubprogram(name: "assert_test_result", linkageName: "_ZN4asks4test18assert_test_result17hb59b00cf78af092aE", scope: !62, file: !9, line: 69, type: !11, scopeLine: 69, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!66 = !DILocation(line: 69, column: 35, scope: !65)
!67 = distinct !DISubprogram(name: "tests", linkageName: "_ZN4asks5tests17hcd52e79427c38aebE", scope: !10, file: !9, line: 74, type: !11, scopeLine: 74, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!68 = !DILocation(line: 75, column: 13, scope: !67)
!69 = !DILocation(line: 75, column: 21, scope: !67)
!70 = !DILocation(line: 75, column: 5, scope: !67)
!71 = !DILocation(line: 76, column: 2, scope: !67)
!72 = distinct !DISubprogram(name: "checked", linkageName: "_ZN4asks7checked17h02e410438d2b940fE", scope: !10, file: !9, line: 44, type: !11, scopeLine: 44, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!73 = !DILocation(line: 45, column: 12, scope: !72)
!74 = !DILocation(line: 18, column: 20, scope: !72)
!75 = !DILocation(line: 48, column: 2, scope: !72)
!76 = !DILocation(line: 46, column: 13, scope: !72)
!77 = !DILocation(line: 46, column: 5, scope: !72)
!78 = !DILocation(line: 47, column: 5, scope: !72)
!79 = distinct !DISubprogram(name: "quarter", linkageName: "_ZN4asks7quarter17h94bcfedaa22361c9E", scope: !10, file: !9, line: 25, type: !11, scopeLine: 25, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!80 = !DILocation(line: 26, column: 16, scope: !79)
!81 = !DILocation(line: 26, column: 16, scope: !82)
!82 = distinct !DILexicalBlock(scope: !83, file: !9, line: 26, column: 23)
!83 = distinct !DILexicalBlock(scope: !79, file: !9, line: 26, column: 23)
!84 = !DILocation(line: 27, column: 17, scope: !85)
!85 = distinct !DILexicalBlock(scope: !79, file: !9, line: 26, column: 5)
!86 = !DILocation(line: 27, column: 17, scope: !87)
!87 = distinct !DILexicalBlock(scope: !88, file: !9, line: 27, column: 27)
!88 = distinct !DILexicalBlock(scope: !85, file: !9, line: 27, column: 27)
!89 = !DILocation(line: 28, column: 5, scope: !90)
!90 = distinct !DILexicalBlock(scope: !85, file: !9, line: 27, column: 5)
!91 = !DILocation(line: 29, column: 2, scope: !79)
!92 = !DILocation(line: 0, scope: !79)
!93 = distinct !DISubprogram(name: "drop_in_place<asks::Noisy>", linkageName: "_ZN4core3ptr32drop_in_place$LT$asks..Noisy$GT$17hf708e6c3374229fbE", scope: !95, file: !94, line: 805, type: !11, scopeLine: 805, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!94 = !DIFile(filename: "library/core/src/ptr/mod.rs", directory: "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860", checksumkind: CSK_MD5, checksum: "8f706ae0a0620120e6e931983ef127f1")
!95 = !DINamespace(name: "ptr", scope: !18)
!96 = !DILocation(line: 805, column: 1, scope: !93)
!97 = distinct !DISubprogram(name: "drop_in_place<core::option::Option<asks::Noisy>>", linkageName: "_ZN4core3ptr60drop_in_place$LT$core..option..Option$LT$asks..Noisy$GT$$GT$17hdfaf05447e117e48E", scope: !95, file: !94, line: 805, type: !11, scopeLine: 805, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!98 = !DILocation(line: 805, column: 1, scope: !97)
!99 = distinct !DISubprogram(name: "is_none<u32>", linkageName: "_ZN4core6option15Option$LT$T$GT$7is_none17hfb87fca3f314143aE", scope: !100, file: !15, line: 684, type: !11, scopeLine: 684, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!100 = !DINamespace(name: "Option", scope: !17)
!101 = !DILocation(line: 636, column: 18, scope: !102, inlinedAt: !106)
!102 = !DILexicalBlockFile(scope: !103, file: !15, discriminator: 0)
!103 = distinct !DILexicalBlock(scope: !105, file: !104, line: 433, column: 9)
!104 = !DIFile(filename: "library/core/src/macros/mod.rs", directory: "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860", checksumkind: CSK_MD5, checksum: "51376b65c07e3acab5731a6bddd7c4b3")
!105 = distinct !DISubprogram(name: "is_some<u32>", linkageName: "_ZN4core6option15Option$LT$T$GT$7is_some17h59911929b3de8ea8E", scope: !100, file: !15, line: 635, type: !11, scopeLine: 635, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!106 = !DILocation(line: 685, column: 15, scope: !99)
!107 = !DILocation(line: 433, column: 9, scope: !103, inlinedAt: !106)
!108 = !DILocation(line: 685, column: 9, scope: !99)
!109 = !DILocation(line: 686, column: 6, scope: !99)
!110 = distinct !DISubprogram(name: "unwrap_or<u32>", linkageName: "_ZN4core6option15Option$LT$T$GT$9unwrap_or17h523510a55264b699E", scope: !100, file: !15, line: 1038, type: !11, scopeLine: 1038, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!111 = !DILocation(line: 1042, column: 15, scope: !110)
!112 = !DILocation(line: 1042, column: 9, scope: !110)
!113 = !DILocation(line: 1043, column: 18, scope: !110)
!114 = !DILocation(line: 1046, column: 5, scope: !110)
!115 = !DILocation(line: 1044, column: 21, scope: !110)
!116 = !DILocation(line: 1046, column: 6, scope: !110)
!117 = distinct !DISubprogram(name: "drop", linkageName: "_ZN53_$LT$asks..Noisy$u20$as$u20$core..ops..drop..Drop$GT$4drop17h1a744c35c2266ab3E", scope: !118, file: !9, line: 6, type: !11, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!118 = !DINamespace(name: "{impl#0}", scope: !10)
!119 = !DILocation(line: 7, column: 29, scope: !117)
!120 = !DILocation(line: 7, column: 18, scope: !117)
!121 = !DILocation(line: 8, column: 6, scope: !117)
!122 = distinct !DISubprogram(name: "branch<u32>", linkageName: "_ZN75_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..ops..try_trait..Try$GT$6branch17h6967647c071975daE", scope: !123, file: !15, line: 2765, type: !11, scopeLine: 2765, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !6, templateParams: !12)
!123 = !DINamespace(name: "{impl#47}", scope: !17)
!124 = !DILocation(line: 2766, column: 15, scope: !122)
!125 = !DILocation(line: 2766, column: 9, scope: !122)
!126 = !DILocation(line: 2767, column: 18, scope: !122)
!127 = !DILocation(line: 2767, column: 24, scope: !128)
!128 = distinct !DILexicalBlock(scope: !122, file: !15, line: 2767, column: 13)
!129 = !DILocation(line: 2770, column: 5, scope: !122)
!130 = !DILocation(line: 2768, column: 21, scope: !122)
!131 = !DILocation(line: 2768, column: 44, scope: !122)
!132 = !DILocation(line: 2770, column: 6, scope: !122)
!133 = distinct !DISubprogram(name: "main", scope: !10, file: !9, line: 50, type: !11, scopeLine: 50, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !6, templateParams: !12)
!134 = !DILocation(line: 51, column: 19, scope: !133)
!135 = !DILocation(line: 52, column: 20, scope: !136)
!136 = distinct !DILexicalBlock(scope: !133, file: !9, line: 51, column: 5)
!137 = !DILocation(line: 53, column: 17, scope: !138)
!138 = distinct !DILexicalBlock(scope: !136, file: !9, line: 52, column: 5)
!139 = !DILocation(line: 54, column: 17, scope: !140)
!140 = distinct !DILexicalBlock(scope: !138, file: !9, line: 53, column: 5)
!141 = !DILocation(line: 55, column: 5, scope: !142)
!142 = distinct !DILexicalBlock(scope: !140, file: !9, line: 54, column: 5)
!143 = !DILocation(line: 55, column: 11, scope: !142)
!144 = !DILocation(line: 61, column: 5, scope: !142)
!145 = !DILocation(line: 62, column: 6, scope: !142)
!146 = !DILocation(line: 62, column: 12, scope: !142)
!147 = !DILocation(line: 62, column: 5, scope: !142)
!148 = !DILocation(line: 56, column: 28, scope: !142)
!149 = !DILocation(line: 56, column: 22, scope: !142)
!150 = !DILocation(line: 63, column: 1, scope: !136)
!151 = !DILocation(line: 63, column: 2, scope: !133)
!152 = !DILocation(line: 56, column: 21, scope: !142)
!153 = !DILocation(line: 56, column: 16, scope: !142)
!154 = !DILocation(line: 56, column: 9, scope: !142)
!155 = !DILocation(line: 57, column: 24, scope: !142)
!156 = !DILocation(line: 57, column: 16, scope: !142)
!157 = !DILocation(line: 57, column: 9, scope: !142)
!158 = !DILocation(line: 58, column: 24, scope: !142)
!159 = !DILocation(line: 58, column: 16, scope: !142)
!160 = !DILocation(line: 58, column: 38, scope: !142)
!161 = !DILocation(line: 58, column: 9, scope: !142)
!162 = !DILocation(line: 59, column: 9, scope: !142)
