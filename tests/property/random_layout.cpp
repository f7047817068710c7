// SPDX-License-Identifier: MIT
#include "random_layout.hpp"

#include <algorithm>
#include <numeric>

namespace tilewright::property {

std::string text(const indices& list) {
  std::string s = "(";
  for (std::size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + std::to_string(list[i]);
  return s + ")";
}

std::string for_each_index(const indices& lengths, const std::function<std::string(const indices&)>& f) {
  const index_t total = std::accumulate(lengths.begin(), lengths.end(), 1, std::multiplies<>());
  for (index_t i = 0; i < total; ++i) {
    indices index(lengths.size());
    index_t rest = i;
    for (std::size_t d = lengths.size(); d-- > 0; rest /= lengths[d]) index[d] = rest % lengths[d];
    if (std::string wrong = f(index); !wrong.empty()) return wrong;
  }
  return "";
}

namespace {

index_t product(const indices& list, std::size_t first) {
  return std::accumulate(list.begin() + std::ptrdiff_t(first), list.end(), 1, std::multiplies<>());
}

}  // namespace

std::optional<indices> lowered(const placed_transform& t, const indices& up) {
  const indices& p = t.parameters;
  const std::size_t num_up = up.size();
  switch (t.kind) {
    case transform_kind::pass_through: return up;
    case transform_kind::pad: {
      const bool exists = p[1] <= up[0] && up[0] < p[1] + p[0];
      return exists ? std::optional(indices{up[0] - p[1]}) : std::nullopt;
    }
    case transform_kind::embed:
      return indices{std::inner_product(up.begin(), up.end(), p.begin() + std::ptrdiff_t(num_up), p[2 * num_up])};
    case transform_kind::merge:
    case transform_kind::merge_magic: {
      const indices lengths(p.begin(), p.begin() + std::ptrdiff_t(t.lower.size()));
      indices low;
      for (std::size_t i = 0; i < lengths.size(); ++i) low.push_back(up[0] / product(lengths, i + 1) % lengths[i]);
      return low;
    }
    case transform_kind::unmerge: {
      index_t sum = 0;
      for (std::size_t i = 0; i < num_up; ++i) sum += up[i] * product(p, i + 1);
      return indices{sum};
    }
    case transform_kind::xor_modulo: {
      index_t low = 0;
      for (index_t bit = 1; bit < p[1]; bit *= 2) low += (up[0] / bit % 2 != up[1] / bit % 2) ? bit : 0;
      return indices{up[0], low};
    }
    case transform_kind::swizzle: {
      index_t low = up[1];
      for (std::size_t bit = 0; bit + 2 < p.size(); ++bit) {
        if (up[0] / (1 << bit) % 2 == 1) low ^= p[bit + 2];
      }
      return indices{up[0], low};
    }
    case transform_kind::offset: return indices{up[0] + p[1]};
    case transform_kind::slice: return indices{up[0] + p[1]};
    case transform_kind::freeze: return indices{p[0]};
    case transform_kind::replicate: return indices{};
    case transform_kind::modulo: {
      index_t low = up[0];
      while (low >= p[0]) low -= p[0];
      return indices{low};
    }
    case transform_kind::cyclic_shift: {
      index_t low = up[1];
      for (index_t i = 0; i < up[0]; ++i) low = low + 1 == p[1] ? 0 : low + 1;
      return indices{up[0], low};
    }
    case transform_kind::indexing: {
      const index_t low = p[std::size_t(1 + up[0])];
      return low < 0 ? std::nullopt : std::optional(indices{low});
    }
    case transform_kind::functor: {  // blocks_apart
      index_t low = 0, rest = up[0];
      for (; rest >= p[4]; rest -= p[4]) low += p[3];
      return low + rest < p[0] ? std::optional(indices{low + rest}) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<index_t> layout_model::offset(indices index) const {
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= lengths()[d]) return std::nullopt;
  }
  for (std::size_t i = layers.size(); i-- > 0;) {
    indices below(std::size_t(layers[i].num_lower), -1);
    for (const placed_transform& t : layers[i].transforms) {
      indices up;
      for (const index_t d : t.upper) up.push_back(index[std::size_t(d)]);
      const std::optional<indices> low = lowered(t, up);
      if (!low) return std::nullopt;
      for (std::size_t k = 0; k < t.lower.size(); ++k) below[std::size_t(t.lower[k])] = (*low)[k];
    }
    index = below;
  }
  return index[0];
}

namespace {

const char* name(transform_kind kind) {
  constexpr const char* names[] = {"pass_through", "pad",       "embed",        "merge",  "merge_magic", "unmerge",
                                   "xor",          "swizzle",   "cyclic_shift", "offset", "slice",       "modulo",
                                   "freeze",       "replicate", "indexing",     "functor"};
  return names[int(kind)];
}

/// Blocks of `block` consecutive indices, `distance` apart.
struct blocks_apart {
  constexpr index_t operator()(index_t i, index_t distance, index_t block) const {
    return i / block * distance + i % block;
  }
};
constexpr const tilewright::detail::index_function* blocks_apart_function =
    make_functor_transform(blocks_apart{}, 1, 1, make_tuple(0, 0)).spec.function;

class builder {
 public:
  builder(tape& choices, bool all_static) : choices_(choices), all_static_(all_static) {
    layout_.graph.top.push_back(0);
    begin_with_a_plain_tensor();
    for (index_t depth = choices_.below(5); depth > 0; --depth) add_layer();
  }

  random_layout result() { return layout_; }

 private:
  index_t length() { return choices_.one_of<index_t>({2, 1, 3, 4, 5, 8, 6, 16}); }

  indices a_few_lengths(index_t most) {
    indices lengths;
    index_t total = 1;
    for (index_t n = choices_.between(1, most); n > 0; --n) {
      const index_t l = length();
      if (total * l > 600) break;
      total *= l;
      lengths.push_back(l);
    }
    return lengths.empty() ? indices{2} : lengths;
  }

  static indices upto(std::size_t n) {
    indices ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }

  void begin_with_a_plain_tensor() {
    const indices lengths = a_few_lengths(4);
    if (choices_.chance(2)) {
      add({1, lengths, {{transform_kind::unmerge, lengths, {0}, upto(lengths.size())}}});
      return;
    }
    // Strides of a permutation of the dimensions, some of them rounded up: every element has its own place.
    indices parameters = lengths, strides(lengths.size()), order = upto(lengths.size());
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[std::size_t(choices_.below(index_t(i)))]);
    index_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      strides[std::size_t(order[i])] = stride;
      stride *= lengths[std::size_t(order[i])];
      if (choices_.chance(3))
        stride = tilewright::detail::round_up<index_t>(stride, choices_.one_of<index_t>({8, 4, 3})) +
                 choices_.one_of<index_t>({0, 8, 1});
    }
    parameters.insert(parameters.end(), strides.begin(), strides.end());
    parameters.push_back(choices_.one_of<index_t>({0, 8, 1}));
    parameters.push_back(1);
    add({1, lengths, {{transform_kind::embed, parameters, {0}, upto(lengths.size())}}});
  }

  /// A layer in which every dimension of the one below is used once, and whose dimensions come in any order.
  void add_layer() {
    const indices below = layout_.model.lengths();
    indices waiting = upto(below.size());
    std::vector<placed_transform> transforms;
    std::vector<indices> upper_lengths;
    const auto take = [&] {
      const auto place = waiting.begin() + choices_.below(index_t(waiting.size()));
      const index_t d = *place;
      waiting.erase(place);
      return d;
    };
    index_t visible = 0;
    while (!waiting.empty()) {
      const index_t d = take(), l = below[std::size_t(d)];
      placed_transform t{transform_kind::pass_through, {l}, {d}, {}};
      indices up{l};
      switch (choices_.below(17)) {
        case 1: {
          const index_t left = choices_.one_of<index_t>({0, 1, 4, 8}), right = choices_.one_of<index_t>({0, 3, 8});
          t = {transform_kind::pad, {l, left, right}, {d}, {}};
          up = {left + l + right};
          break;
        }
        case 2:
          for (index_t n = choices_.below(3); n > 0 && !waiting.empty(); --n) t.lower.push_back(take());
          t.kind = transform_kind::merge;
          t.parameters.clear();
          for (const index_t low : t.lower) t.parameters.push_back(below[std::size_t(low)]);
          up = {product(t.parameters, 0)};
          break;
        case 3: {
          up.clear();
          index_t rest = l;
          for (const index_t f : {2, 3, 2, 4}) {
            if (rest % f != 0 || !choices_.chance(2)) continue;
            up.push_back(f);
            rest /= f;
          }
          up.insert(choices_.chance(2) ? up.begin() : up.end(), rest);
          t = {transform_kind::unmerge, up, {d}, {}};
          break;
        }
        case 4:
          if (waiting.empty() || !detail::is_power_of_two(below[std::size_t(waiting.front())])) break;
          t = {transform_kind::xor_modulo, {l, below[std::size_t(waiting.front())]}, {d, waiting.front()}, {}};
          up = {l, below[std::size_t(waiting.front())]};
          waiting.erase(waiting.begin());
          break;
        case 5: {
          const index_t from = choices_.below(l);
          up = {l - from};
          t = {transform_kind::offset, {l - from, from}, {d}, {}};
          break;
        }
        case 6:
          if (waiting.empty() && visible == 0) break;
          t = {transform_kind::freeze, {choices_.below(l)}, {d}, {}};
          up.clear();
          break;
        case 7: {
          if (waiting.empty()) break;
          const index_t l1 = below[std::size_t(waiting.front())];
          if (!detail::is_power_of_two(l) || !detail::is_power_of_two(l1)) break;
          t = {transform_kind::swizzle, {l, l1}, {d, waiting.front()}, {}};
          for (index_t bit = 1; bit < l; bit *= 2) t.parameters.push_back(choices_.below(l1));
          up = {l, l1};
          waiting.erase(waiting.begin());
          break;
        }
        case 8:
          for (index_t n = choices_.below(3); n > 0 && !waiting.empty(); --n) t.lower.push_back(take());
          t.kind = transform_kind::merge_magic;
          t.parameters.clear();
          for (const index_t low : t.lower) t.parameters.push_back(below[std::size_t(low)]);
          up = {product(t.parameters, 0)};
          for (std::size_t i = 1; i < t.lower.size(); ++i)
            t.parameters.push_back(
                index_t(tilewright::detail::make_magic_division(below[std::size_t(t.lower[i])]).multiplier));
          for (std::size_t i = 1; i < t.lower.size(); ++i)
            t.parameters.push_back(tilewright::detail::make_magic_division(below[std::size_t(t.lower[i])]).shift);
          break;
        case 9: {
          if (waiting.empty()) break;
          const index_t l1 = below[std::size_t(waiting.front())];
          t = {transform_kind::cyclic_shift, {l, l1}, {d, waiting.front()}, {}};
          up = {l, l1};
          waiting.erase(waiting.begin());
          break;
        }
        case 10: {
          const index_t begin = choices_.below(l), end = begin + 1 + choices_.below(l - begin);
          t = {transform_kind::slice, {l, begin, end}, {d}, {}};
          up = {end - begin};
          break;
        }
        case 11: {
          const index_t modulus = 1 + choices_.below(l),
                        length = choices_.one_of<index_t>({1, 2, 4, 9}) * modulus - choices_.below(modulus);
          t = {transform_kind::modulo, {modulus, length}, {d}, {}};
          up = {length};
          break;
        }
        case 12: {
          t = {transform_kind::indexing, {choices_.between(1, 6)}, {d}, {}};
          for (index_t n = t.parameters[0]; n > 0; --n) t.parameters.push_back(choices_.between(-1, l - 1));
          up = {t.parameters[0]};
          break;
        }
        case 13: {
          const index_t block = choices_.one_of<index_t>({1, 2, 4, 3}),
                        distance = choices_.one_of<index_t>({4, 8, 1, 6});
          const index_t length = choices_.between(1, 2 * l);
          t = {transform_kind::functor,
               {l, length, detail::gcd(detail::gcd(l, length), detail::gcd(block, distance)), distance, block},
               {d},
               {}};
          up = {length};
          break;
        }
        case 14: {  // a filter that slides over a dimension
          const index_t filter = choices_.between(1, min(index_t(l), 3));
          t = {transform_kind::embed, {l - filter + 1, filter, 1, 1, 0, 1}, {d}, {}};
          up = {l - filter + 1, filter};
          break;
        }
        case 15: {  // next to the dimension, which is passed through
          if (transforms.size() > 5) break;
          placed_transform r{transform_kind::replicate, {}, {}, {}};
          for (index_t n = choices_.between(1, 2); n > 0; --n) r.parameters.push_back(choices_.between(1, 3));
          visible += index_t(r.parameters.size());
          transforms.push_back(r);
          upper_lengths.push_back(r.parameters);
          break;
        }
        default: break;
      }
      visible += index_t(up.size());
      transforms.push_back(t);
      upper_lengths.push_back(up);
    }
    index_t total = 1, count = 0;
    for (const indices& up : upper_lengths) total *= product(up, 0), count += index_t(up.size());
    if (total > 4000 || count == 0 || count > 8) return;
    // Which new dimension is which transform's.
    indices ids = upto(std::size_t(count));
    for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[std::size_t(choices_.below(index_t(i)))]);
    layer next{index_t(below.size()), indices(std::size_t(count)), transforms};
    std::size_t n = 0;
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      for (const index_t l : upper_lengths[i]) {
        next.transforms[i].upper.push_back(ids[n]);
        next.lengths[std::size_t(ids[n++])] = l;
      }
    }
    add(next);
  }

  void add(layer next) {
    indices values;
    std::string words;
    for (placed_transform& t : next.transforms) {
      t.spec = {t.kind,
                static_cast<signed char>(t.lower.size()),
                static_cast<signed char>(t.upper.size()),
                {},
                t.kind == transform_kind::functor ? blocks_apart_function : nullptr};
      index_t guarantee = 0;
      for (std::size_t i = 0; i < t.parameters.size(); ++i) {
        const bool is_guarantee = t.kind == transform_kind::embed && i + 1 == t.parameters.size();
        const bool must_be_static =
            is_guarantee || t.kind == transform_kind::swizzle || (t.kind == transform_kind::xor_modulo && i == 1) ||
            (t.kind == transform_kind::indexing && i == 0) || (t.kind == transform_kind::functor && i == 2);
        const bool at_run_time = !all_static_ && !must_be_static && choices_.chance(4);
        t.spec.parameters.push_back(is_guarantee ? guarantee : at_run_time ? dynamic : t.parameters[i]);
        if (at_run_time) {
          values.push_back(t.parameters[i]);
          guarantee = detail::gcd(guarantee, t.parameters[i]);
        }
      }
      words += std::string(" ") + name(t.kind) + text(t.parameters) + " from " + text(t.lower) + " to " + text(t.upper);
    }
    const detail::chained_graph result = chained(layout_.graph, next);
    if (result.fault == detail::chain_fault::too_many_nodes) return;
    if (result.fault != detail::chain_fault::none) layout_.description += " NOT ACCEPTED:";
    layout_.graph = result.graph;
    layout_.model.layers.push_back(next);
    layout_.values.insert(layout_.values.end(), values.begin(), values.end());
    layout_.description += words + ";";
  }

  tape& choices_;
  bool all_static_;
  random_layout layout_;
};

template <index_t N>
detail::chained_graph chained_of(const tensor_graph& graph, const layer& next) {
  array<transform_spec, N> specs{};
  array<detail::dimension_ids, N> lower{}, upper{};
  for (index_t i = 0; i < N; ++i) {
    const placed_transform& t = next.transforms[std::size_t(i)];
    specs[i] = t.spec;
    for (const index_t d : t.lower) lower[i].ids.push_back(static_cast<signed char>(d));
    for (const index_t d : t.upper) upper[i].ids.push_back(static_cast<signed char>(d));
  }
  return detail::chain<N>(graph, specs, lower, upper);
}

}  // namespace

tensor_graph all_static(const random_layout& layout) {
  tensor_graph graph = layout.graph;
  for (tensor_graph::node& node : graph.nodes) {
    const tilewright::detail::transform_parameters p = node.parameters(layout.values.data());
    for (index_t i = 0; i < node.spec.parameters.size(); ++i) node.spec.parameters[i] = p[i];
  }
  graph.num_values = 0;
  return graph;
}

detail::chained_graph chained(const tensor_graph& graph, const layer& next) {
  switch (next.transforms.size()) {
    case 1: return chained_of<1>(graph, next);
    case 2: return chained_of<2>(graph, next);
    case 3: return chained_of<3>(graph, next);
    case 4: return chained_of<4>(graph, next);
    case 5: return chained_of<5>(graph, next);
    case 6: return chained_of<6>(graph, next);
    case 7: return chained_of<7>(graph, next);
    case 8: return chained_of<8>(graph, next);
    default: return {graph, detail::chain_fault::too_many_nodes};
  }
}

random_layout make_random_layout(tape& choices, bool all_static) { return builder(choices, all_static).result(); }

}  // namespace tilewright::property
