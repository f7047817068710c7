// SPDX-License-Identifier: MIT
// How far a result is from attention in double precision.
#include "reference.hpp"

#include <cmath>
#include <limits>
#include <mutex>

#include "parallel.hpp"

namespace attention_program {
namespace {

std::vector<double> values_of(const matrix& tensor, std::int64_t z) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(tensor.rows * tensor.cols));
  for (std::int64_t i = 0; i < tensor.rows; ++i) {
    for (std::int64_t j = 0; j < tensor.cols; ++j) values.push_back(tensor.value(i, j, z));
  }
  return values;
}

/// Norms of what was compared, and the worst element.
struct sums {
  double error = 0, reference = 0, worst = -1;
  comparison at;

  void add(double got, double wanted, std::int64_t head, std::int64_t row, std::int64_t col) {
    const double difference = std::abs(got - wanted);
    error += difference * difference;
    reference += wanted * wanted;
    if (difference <= worst) return;  // a NaN is worse than everything
    worst = difference;
    at.worst_head = head;
    at.worst_row = row;
    at.worst_col = col;
    at.worst_result = got;
    at.worst_reference = wanted;
  }
  void add(const sums& other) {
    error += other.error;
    reference += other.reference;
    at.lse_error = other.at.lse_error <= at.lse_error ? at.lse_error : other.at.lse_error;
    if (other.worst <= worst) return;
    const double lse_error = at.lse_error;
    worst = other.worst;
    at = other.at;
    at.lse_error = lse_error;
  }
};

/// One row of the result.
void compare_row(sums& total, const inputs& data, std::int64_t head, std::int64_t i, const std::vector<double>& k,
                 const std::vector<double>& v) {
  const std::int64_t keys = data.keys(), dim = data.q.cols, value_dim = data.v.cols, own = i + keys - data.queries();
  const std::int64_t first = data.window.left < 0 ? 0 : std::max<std::int64_t>(0, own - data.window.left);
  const std::int64_t last =
      data.window.right < 0 ? keys : std::max(first, std::min(keys, own + data.window.right + std::int64_t(1)));
  std::vector<double> q, scores, expected(static_cast<std::size_t>(value_dim));
  for (std::int64_t d = 0; d < dim; ++d) q.push_back(data.q.value(i, d, head));
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t j = first; j < last; ++j) {
    double dot = 0;
    for (std::int64_t d = 0; d < dim; ++d) dot += q[std::size_t(d)] * k[std::size_t(j * dim + d)];
    scores.push_back(dot * double(data.scale));
    top = std::max(top, scores.back());
  }
  for (std::int64_t j = first; j < last; ++j) {
    const double weight = std::exp(scores[std::size_t(j - first)] - top);
    sum += weight;
    for (std::int64_t d = 0; d < value_dim; ++d) expected[std::size_t(d)] += weight * v[std::size_t(j * value_dim + d)];
  }
  for (std::int64_t d = 0; d < value_dim; ++d)
    total.add(data.o.value(i, d, head), sum > 0 ? expected[std::size_t(d)] / sum : 0, head, i, d);
  const double got = data.lse.value(head, i), wanted = top + std::log(sum);
  const double difference = sum > 0 ? std::abs(got - wanted) : std::isinf(got) && got < 0 ? 0 : 1e30;
  total.at.lse_error = difference <= total.at.lse_error ? total.at.lse_error : difference;
}

}  // namespace

comparison compare_with_reference(const inputs& data, const std::function<void(double)>& progress) {
  sums total;
  std::mutex mutex;
  gemm_program::parallel_for(
      data.q.batch,
      [&](std::int64_t head) {
        const std::vector<double> k = values_of(data.k, data.kv_of(head)), v = values_of(data.v, data.kv_of(head));
        sums of_head;
        for (std::int64_t i = 0; i < data.queries(); ++i) compare_row(of_head, data, head, i, k, v);
        const std::lock_guard lock(mutex);
        total.add(of_head);
      },
      progress);
  total.at.relative_error = total.error == 0 ? 0 : std::sqrt(total.error / total.reference);
  return total.at;
}

}  // namespace attention_program
