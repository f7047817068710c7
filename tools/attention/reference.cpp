// SPDX-License-Identifier: MIT
// How far results are from attention in double precision.
#include "reference.hpp"

#include <cmath>
#include <limits>
#include <mutex>

#include "comparison.hpp"
#include "parallel.hpp"

namespace attention_program {
namespace {

/// `scales`: factors of each head, if there are any.
std::vector<double> values_of(const matrix& tensor, std::int64_t z, const std::vector<float>& scales = {}) {
  const double scale = scales.empty() ? 1 : double(scales[std::size_t(z)]);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(tensor.rows * tensor.cols));
  for (std::int64_t i = 0; i < tensor.rows; ++i) {
    for (std::int64_t j = 0; j < tensor.cols; ++j) values.push_back(tensor.value(i, j, z) * scale);
  }
  return values;
}

/// How far a result is off; 0 where both are NaN or the same infinity, as IEEE 754 has them.
double distance(element type, double got, double wanted) {
  return gemm_program::element_comparison(type, 0).distance(got, wanted);
}

double finite_square(double x) { return std::isfinite(x) ? x * x : 0; }

/// Norms of what was compared, and the worst element.
struct sums {
  double error = 0, reference = 0, worst = -1;
  std::array<double, 3> gradient_error{}, gradient_reference{}, gradient_magnitude{};  // of dQ, dK, dV
  comparison at;

  void add(element type, double got, double wanted, std::int64_t head, std::int64_t row, std::int64_t col) {
    const double difference = distance(type, got, wanted);
    error += difference * difference;
    reference += finite_square(wanted);
    if (difference <= worst) return;
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
    for (std::size_t i = 0; i < 3; ++i) {
      gradient_error[i] += other.gradient_error[i];
      gradient_reference[i] += other.gradient_reference[i];
      gradient_magnitude[i] += other.gradient_magnitude[i];
    }
    at.lse_error = other.at.lse_error <= at.lse_error ? at.lse_error : other.at.lse_error;
    if (other.worst <= worst) return;
    const double lse_error = at.lse_error;
    worst = other.worst;
    at = other.at;
    at.lse_error = lse_error;
  }
};

/// Rows of a gradient, and of the same sums of magnitudes.
struct gradient {
  std::int64_t cols;
  std::vector<double> value, magnitude;
  gradient(std::int64_t rows, std::int64_t columns)
      : cols(columns), value(std::size_t(rows * columns)), magnitude(std::size_t(rows * columns)) {}

  /// Adds factor * row; `size`: the magnitude of the factor's terms.
  void add(std::int64_t i, double factor, double size, const double* row) {
    for (std::int64_t d = 0; d < cols; ++d) {
      value[std::size_t(i * cols + d)] += factor * row[d];
      magnitude[std::size_t(i * cols + d)] += std::abs(size * row[d]);
    }
  }
  void compare(sums& total, std::size_t which, const matrix& got, std::int64_t z) const {
    for (std::int64_t i = 0; i < got.rows * cols; ++i) {
      const double difference = distance(got.type, got.value(i / cols, i % cols, z), value[std::size_t(i)]);
      total.gradient_error[which] += difference * difference;
      total.gradient_reference[which] += finite_square(value[std::size_t(i)]);
      total.gradient_magnitude[which] += finite_square(magnitude[std::size_t(i)]);
    }
  }
};

/// The keys [first, last) that a query sees, their probabilities, and the log-sum-exp.
struct row_of_probabilities {
  std::int64_t first, last;
  std::vector<double> p;
  double lse = -std::numeric_limits<double>::infinity();

  row_of_probabilities(const inputs& data, std::int64_t i, const double* q, const std::vector<double>& k) {
    const std::int64_t keys = data.keys(), dim = data.q.cols, own = i + keys - data.queries();
    first = data.window.left < 0 ? 0 : std::max<std::int64_t>(0, own - data.window.left);
    last = data.window.right < 0 ? keys : std::max(first, std::min(keys, own + data.window.right + std::int64_t(1)));
    double top = lse, sum = 0;
    for (std::int64_t j = first; j < last; ++j) {
      double dot = 0;
      for (std::int64_t d = 0; d < dim; ++d) dot += q[d] * k[std::size_t(j * dim + d)];
      p.push_back(dot * double(data.scale));
      top = std::max(top, p.back());
    }
    for (double& x : p) sum += x = std::exp(x - top);
    for (double& x : p) x /= sum;
    if (first < last) lse = top + std::log(sum);
  }
};

/// The results of one head of K and V and of the query heads that share it.
sums compare_head(const inputs& data, std::int64_t kv) {
  const std::int64_t dim = data.q.cols, value_dim = data.v.cols, shared = data.heads / data.kv_heads;
  const std::vector<double> k = values_of(data.k, kv, data.k_scales), v = values_of(data.v, kv, data.v_scales);
  gradient d_k(data.keys(), dim), d_v(data.keys(), value_dim);
  // Kernels may multiply a key that a query does not see by 0: then an infinity or NaN of its value gives NaN.
  std::vector<bool> is_special(static_cast<std::size_t>(value_dim));
  for (std::size_t i = 0; i < v.size(); ++i)
    if (!std::isfinite(v[i])) is_special[i % std::size_t(value_dim)] = true;
  sums total;
  for (std::int64_t head = kv * shared; head < (kv + 1) * shared; ++head) {
    const std::vector<double> q = values_of(data.q, head, data.q_scales), d_o = values_of(data.d_o, head);
    gradient d_q(data.has_gradients() ? data.queries() : 0, dim);
    for (std::int64_t i = 0; i < data.queries(); ++i) {
      const double* const q_row = q.data() + i * dim;
      const row_of_probabilities row(data, i, q_row, k);
      std::vector<double> o(static_cast<std::size_t>(value_dim)), d_p;
      for (std::int64_t j = row.first; j < row.last; ++j) {
        for (std::int64_t d = 0; d < value_dim; ++d)
          o[std::size_t(d)] += row.p[std::size_t(j - row.first)] * v[std::size_t(j * value_dim + d)];
      }
      for (std::int64_t d = 0; d < value_dim; ++d) {
        const double got = data.o.value(i, d, head);
        const bool is_masked = std::isnan(got) && is_special[std::size_t(d)];
        total.add(data.o.type, got, is_masked ? got : o[std::size_t(d)], head, i, d);
      }
      const double got = data.lse.value(head, i);
      const double difference = distance(element::f32, got, row.lse);
      total.at.lse_error = difference <= total.at.lse_error ? total.at.lse_error : difference;
      if (!data.has_gradients()) continue;
      const double* const d_o_row = d_o.data() + i * value_dim;
      double delta = 0;
      for (std::int64_t d = 0; d < value_dim; ++d) delta += d_o_row[d] * o[std::size_t(d)];
      for (std::int64_t j = row.first; j < row.last; ++j) {
        double dot = 0;
        for (std::int64_t d = 0; d < value_dim; ++d) dot += d_o_row[d] * v[std::size_t(j * value_dim + d)];
        const double p = row.p[std::size_t(j - row.first)], weight = p * double(data.scale),
                     size = weight * (std::abs(dot) + std::abs(delta));
        d_q.add(i, weight * (dot - delta), size, k.data() + j * dim);
        d_k.add(j, weight * (dot - delta), size, q_row);
        d_v.add(j, p, p, d_o_row);
      }
    }
    if (data.has_gradients()) d_q.compare(total, 0, data.d_q, head);
  }
  if (data.has_gradients()) {
    d_k.compare(total, 1, data.d_k, kv);
    d_v.compare(total, 2, data.d_v, kv);
  }
  return total;
}

}  // namespace

comparison compare_with_reference(const inputs& data, const std::function<void(double)>& progress) {
  sums total;
  std::mutex mutex;
  gemm_program::parallel_for(
      data.k.batch,
      [&](std::int64_t kv) {
        const sums of_head = compare_head(data, kv);
        const std::lock_guard lock(mutex);
        total.add(of_head);
      },
      progress);
  const auto relative = [](double error, double to) { return error == 0 ? 0 : std::sqrt(error) / to; };
  total.at.relative_error = relative(total.error, std::sqrt(total.reference));
  for (std::size_t i = 0; i < 3; ++i)
    total.at.gradient_errors[i] = relative(
        total.gradient_error[i], std::sqrt(total.gradient_reference[i]) + std::sqrt(total.gradient_magnitude[i]) / 64);
  return total.at;
}

}  // namespace attention_program
