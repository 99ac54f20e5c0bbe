/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_complex.h: std::complex for the C++ overloads of rma.h and shmem.h. Only these two include this file.
 *
 * <complex> takes longer to compile than all else that these headers need. So they do not name std::complex. They
 * accept any class template, instantiated for float or double, that has real() and imag() and the size of the two
 * together. C++ before C++11 cannot express this condition. The C++ standard gives std::complex the layout of C's
 * complex numbers ([complex.numbers]). */
#ifndef RMA_COMPLEX_H
#define RMA_COMPLEX_H

__extension__ typedef float _Complex rma_complexf_; /* as in rma.h */
__extension__ typedef double _Complex rma_complexd_;

#if __cplusplus >= 201103L
extern "C++" {
/* `type` is COMPLEX if C has its size. Otherwise `type` does not exist, and an overload that uses it is ignored. */
template <typename C, typename COMPLEX, bool = sizeof(C) == sizeof(COMPLEX)> struct rma_complex_sized_ {};
template <typename C, typename COMPLEX> struct rma_complex_sized_<C, COMPLEX, true> { typedef COMPLEX type; };

template <typename C> const C &rma_complex_some_();

template <typename C, typename = void> struct rma_complex_of_ {};
template <template <typename> class C>
struct rma_complex_of_<C<float>, decltype(static_cast<void>(rma_complex_some_<C<float>>().real() +
                                                            rma_complex_some_<C<float>>().imag()))>
    : rma_complex_sized_<C<float>, rma_complexf_> {};
template <template <typename> class C>
struct rma_complex_of_<C<double>, decltype(static_cast<void>(rma_complex_some_<C<double>>().real() +
                                                             rma_complex_some_<C<double>>().imag()))>
    : rma_complex_sized_<C<double>, rma_complexd_> {};
}
#endif

#endif
