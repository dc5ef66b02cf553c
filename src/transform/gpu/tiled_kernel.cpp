// Elements of the tiled kernel, from the grid to the registers of a thread.
//
// A block owns rows x columns of the result. Per step of the summed dimension its threads store the next tile of each
// operand from registers to shared memory, fetch the one after that into registers, and multiply: memory is waited for
// behind the arithmetic. Edges: numbers of rows, columns and summed places are clamped to the last one when operands
// are read, so that no read needs a condition; sums of places beyond are never stored, and the last step runs only as
// far as the summed dimension goes (zeros instead would turn infinities into NaN).
#include "transform/gpu/tiled_kernel.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "library/emit.hpp"
#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

using library::Emitter;
using symbolic::Expr;

constexpr std::int64_t kVectorBytes = 16;  // what one instruction moves between shared memory and registers

// How a block reads a tile of an operand.
struct Loading {
  const Factor* factor = nullptr;
  const std::vector<Label>* labels = nullptr;  // rows or columns
  Expr first;                                  // of the block
  std::int64_t extent = 0;                     // rows or columns of the tile
  bool along_sum = false;                      // neighbouring threads read along the summed dimension
  std::string view, tile, next, at;            // memory as a line; shared; registers: the coming tile, addresses

  std::int64_t vector() const { return std::max<std::int64_t>(1, kVectorBytes / size_of(factor->type)); }
};

class TiledKernel {
 public:
  TiledKernel(ir::Graph& g, const DeviceContraction& c, const Tiles& tiles, const ir::Element& kernel,
              const symbolic::Facts& outside, library::CodeNames& names)
      : g_(g), c_(c), tiles_(tiles), kernel_(kernel), outside_(outside), names_(names), flattened_(flattened_sums(c)) {
    rows_ = points_of(c.rows);
    columns_ = points_of(c.columns);
    inner_.assign(c.summed.end() - static_cast<std::ptrdiff_t>(flattened_), c.summed.end());
    summed_ = points_of(inner_);
    lanes_ = tiles.columns / tiles.thread_columns;
    in_ = g.unique_name("in");
    out_ = g.unique_name("out");
    names_.insert({in_, out_});
  }

  std::unique_ptr<ir::Element> run() {
    ir::Sequence made;
    const Emitter host(g_, made, {}, kernel_.location, names_);
    std::vector<std::pair<std::string, ir::Range>> grid;
    for (const Label& l : c_.batch) grid.emplace_back(l.symbol, ir::Range::half_open(0, l.count));
    grid.emplace_back("rows", ir::Range{0, rows_ - 1, tiles_.rows, 1});
    grid.emplace_back("columns", ir::Range{0, columns_ - 1, tiles_.columns, 1});
    ir::Map& m = host.map_ranges(grid, [&](Emitter& e, std::vector<Expr> p) {
      for (std::size_t k = 0; k < c_.batch.size(); ++k) index_.insert_or_assign(c_.batch[k].symbol, p[k]);
      block(e, p[c_.batch.size()], p[c_.batch.size() + 1]);
    });
    m.schedule = ir::Schedule::kDevice;
    m.gpu_block_size = {tiles_.threads(), 1, 1};
    if (tiles_.blocks_at_once > 1)
      m.gpu_launch_bounds = std::to_string(tiles_.threads()) + ", " + std::to_string(tiles_.blocks_at_once);
    std::unique_ptr<ir::Element> out = std::move(made.items.front());
    out->label = kernel_.label;
    return out;
  }

 private:
  using Body = std::function<void(Emitter&)>;

  // ---- Containers of the kernel

  std::string declare(ir::Block& in, const std::string& wish, ScalarType type, std::vector<Expr> shape,
                      ir::Storage storage) {
    ir::Container c;
    c.name = g_.unique_name(wish);
    c.type = type;
    c.transient = true;
    c.storage = storage;
    c.kind = shape.empty() ? ir::ContainerKind::kScalar : ir::ContainerKind::kArray;
    if (!shape.empty()) c.layout = ir::Layout::packed(std::move(shape));
    c.location = kernel_.location;
    in.locals.push_back(c.name);
    return g_.containers.insert(std::move(c)).name;
  }
  // The container as a line of elements, counted from its first one.
  std::string declare_view(ir::Block& in, const std::string& data) {
    const ir::Container& shown = g_.containers.at(data);
    ir::Container v;
    v.name = g_.unique_name(data + "_line");
    v.kind = ir::ContainerKind::kView;
    v.type = shown.type;
    v.transient = true;
    v.layout = ir::Layout::packed({shown.layout.total_size()});
    v.viewed = data;
    v.viewed_subset = ir::Subset::full(shown.layout.shape());
    v.location = kernel_.location;
    in.locals.push_back(v.name);
    return g_.containers.insert(std::move(v)).name;
  }
  Emitter block_in(const Emitter& e, const std::function<void(ir::Block&)>& fill) {
    ir::Element& made = g_.append(e.sequence(), ir::Block{}, {}, kernel_.location);
    auto& b = std::get<ir::Block>(made.kind);
    fill(b);
    return e.inside(b.body);
  }

  // ---- Small pieces

  void unrolled(const Emitter& e, const std::string& name, std::int64_t count,
                const std::function<void(Emitter&, Expr)>& body) const {
    e.loop(name, 0, count, body);
    std::get<ir::For>(e.sequence().items.back()->kind).unroll = true;
  }
  void threads(const Emitter& e, const std::string& label, const std::function<void(Emitter&, Expr)>& body) const {
    e.map({{"t", tiles_.threads()}}, [&](Emitter& t, std::vector<Expr> p) { body(t, p[0]); }).schedule =
        ir::Schedule::kThreadBlock;
    e.sequence().items.back()->label = label;
  }
  // to[at] = value, which may name `in_` if there is a container to read it from.
  void write(const Emitter& e, const std::string& from, const ir::Subset& from_at, const tasklet::Expr& value,
             const std::string& to, const ir::Subset& to_at) const {
    ir::State s;
    ir::Tasklet t;
    const ir::Id code = g_.new_id();
    const auto connect = [&](const std::string& data, const ir::Subset& at, bool output) {
      const ir::Id access = g_.new_id();
      s.nodes.push_back({access, {}, {}, ir::Access{data}});
      (output ? t.outputs : t.inputs).push_back({output ? out_ : in_, g_.containers.at(data).type});
      ir::Memlet m;
      m.id = g_.new_id();
      m.src = output ? code : access;
      m.dst = output ? access : code;
      (output ? m.src_connector : m.dst_connector) = output ? out_ : in_;
      (output ? m.dst_subset : m.src_subset) = at;
      s.edges.push_back(std::move(m));
    };
    if (!from.empty()) connect(from, from_at, false);
    connect(to, to_at, true);
    tasklet::Statement statement;
    statement.node = tasklet::Assign{tasklet::Expr::name(out_, g_.containers.at(to).type), value};
    t.code.body.push_back(std::move(statement));
    s.nodes.push_back({code, {}, kernel_.location, std::move(t)});
    const ir::Node& node = s.nodes.back();
    auto body = tasklet::infer_types(std::get<ir::Tasklet>(node.kind).code.body, ir::type_environment(g_, s, node));
    std::get<ir::Tasklet>(s.nodes.back().kind).code.body = std::move(body);
    g_.append(e.sequence(), std::move(s), {}, kernel_.location);
  }
  void write(const Emitter& e, const tasklet::Expr& value, const std::string& to, const ir::Subset& to_at) const {
    write(e, {}, {}, value, to, to_at);
  }
  void copy(const Emitter& e, const std::string& from, const ir::Subset& from_at, const std::string& to,
            const ir::Subset& to_at) const {
    write(e, from, from_at, tasklet::Expr::name(in_, g_.containers.at(from).type), to, to_at);
  }
  // A number that is not negative.
  Expr number(const Emitter& e, const std::string& name, const tasklet::Expr& value, std::int64_t least = 0) const {
    const Expr s = e.assign(name, value);
    g_.symbols.at(s.name()).lower = least;
    return s;
  }
  Expr number(const Emitter& e, const std::string& name, const Expr& value, std::int64_t least = 0) const {
    if (value.kind() == symbolic::Kind::kSymbol || value.constant()) return value;
    return number(e, name, tasklet::from_symbolic(value), least);
  }

  // The extent of a label that numbers are divided by: at least one.
  Expr extent(const Label& l) const {
    const auto it = extents_.find(l.symbol);
    return it == extents_.end() ? l.count : it->second;
  }
  void assign_extents(const Emitter& e) {
    const std::vector<Label>& inner = inner_;
    for (const std::vector<Label>* labels : {&c_.rows, &c_.columns, &inner}) {
      for (std::size_t k = 1; k < labels->size(); ++k) {
        const Label& l = (*labels)[k];
        if (symbolic::is_positive(l.count, outside_) == symbolic::Truth::kYes) continue;
        extents_.emplace(l.symbol, number(e, l.symbol + "_extent", symbolic::max(l.count, 1), 1));
      }
    }
  }
  // The places of all labels, from the number of their point.
  void locate(const std::vector<Label>& labels, const Expr& number_of_point,
              std::map<std::string, Expr, std::less<>>& index) const {
    Expr rest = number_of_point;
    for (std::size_t k = labels.size(); k-- > 0;) {
      index.insert_or_assign(labels[k].symbol, k == 0 ? rest : symbolic::mod(rest, extent(labels[k])));
      if (k > 0) rest = symbolic::floor_div(rest, extent(labels[k]));
    }
  }
  Expr distance(const Factor& f, const std::vector<Label>& labels, const Expr& number_of_point) const {
    std::map<std::string, Expr, std::less<>> index;
    locate(labels, number_of_point, index);
    Expr out = 0;
    for (const Label& l : labels) out += f.stride(l) * index.at(l.symbol);
    return out;
  }

  // The row (or column) of a thread's k-th one: vectors of neighbours, all lanes side by side.
  static Expr place_in_tile(const Expr& k, const Expr& lane, std::int64_t lanes, std::int64_t vector) {
    return symbolic::floor_div(k, vector) * (lanes * vector) + lane * vector + symbolic::mod(k, vector);
  }
  std::int64_t row_vector() const { return std::min(a_.vector(), tiles_.thread_rows); }
  std::int64_t column_vector() const { return std::min(b_.vector(), tiles_.thread_columns); }
  Expr row_in_tile(const Expr& t, const Expr& i) const {
    return place_in_tile(i, symbolic::floor_div(t, lanes_), tiles_.rows / tiles_.thread_rows, row_vector());
  }
  Expr column_in_tile(const Expr& t, const Expr& j) const {
    return place_in_tile(j, symbolic::mod(t, lanes_), lanes_, column_vector());
  }
  ir::Subset sum_at(const Expr& i, const Expr& j) const { return ir::Subset::index({i * tiles_.thread_columns + j}); }

  // ---- The block

  void block(Emitter& e, const Expr& row, const Expr& column) {
    Emitter here = block_in(e, [&](ir::Block& b) {
      a_ = loading(b, c_.a, c_.rows, row, tiles_.rows, "a");
      b_ = loading(b, c_.b, c_.columns, column, tiles_.columns, "b");
      const ir::Storage reg = ir::Storage::kRegister;
      sums_ = declare(b, "sums", c_.type, {tiles_.thread_rows * tiles_.thread_columns}, reg);
      a_part_ = declare(b, "a_part", c_.a.type, {tiles_.thread_rows}, reg);
      b_part_ = declare(b, "b_part", c_.b.type, {tiles_.thread_columns}, reg);
    });
    assign_extents(here);
    threads(here, "addresses", [&](Emitter& t, const Expr& thread) {
      for (const Loading* l : {&a_, &b_}) addresses(t, *l, thread);
    });
    threads(here, "first value of the sums", [&](Emitter& t, const Expr& thread) { first_sums(t, thread); });
    const Body sum = [&](Emitter& s) { sum_loops(s, 0); };
    const Expr all = points_of(c_.summed);
    if (symbolic::is_positive(all, outside_) == symbolic::Truth::kYes)
      sum(here);
    else
      here.branch(tasklet::from_symbolic(symbolic::ge(all, 1)), sum);
    threads(here, "result", [&](Emitter& t, const Expr& thread) { results(t, thread); });
  }

  Loading loading(ir::Block& b, const Factor& f, const std::vector<Label>& labels, const Expr& first,
                  std::int64_t extent, const std::string& name) {
    Loading l;
    l.factor = &f;
    l.labels = &labels;
    l.first = first;
    l.extent = extent;
    l.along_sum = !f.stride(labels.back()).is_one() && f.stride(inner_.back()).is_one();
    // Neighbours along the sum go to different rows of the tile: these begin in different banks.
    const std::int64_t pad = l.along_sum ? l.vector() : 0;
    l.view = declare_view(b, f.data);
    l.tile = declare(b, name + "_tile", f.type, {tiles_.summed, extent + pad}, ir::Storage::kGpuShared);
    const std::int64_t loads = extent * tiles_.summed / tiles_.threads();
    l.next = declare(b, name + "_next", f.type, {loads}, ir::Storage::kRegister);
    l.at = declare(b, name + "_at", ScalarType::kInt64, {l.along_sum ? loads : 1}, ir::Storage::kRegister);
    return l;
  }

  std::int64_t loads_of(const Loading& l) const { return l.extent * tiles_.summed / tiles_.threads(); }
  Expr place_of_load(const Loading& l, const Expr& thread, const Expr& k) const {
    if (!l.along_sum) return symbolic::mod(thread, l.extent);
    return symbolic::floor_div(thread, tiles_.summed) + k * (tiles_.threads() / tiles_.summed);
  }
  Expr step_of_load(const Loading& l, const Expr& thread, const Expr& k) const {
    if (l.along_sum) return symbolic::mod(thread, tiles_.summed);
    return symbolic::floor_div(thread, l.extent) + k * (tiles_.threads() / l.extent);
  }

  // What the rows (columns) of a thread's loads add to addresses: computed once.
  void addresses(Emitter& t, const Loading& l, const Expr& thread) {
    const Factor& f = *l.factor;
    Expr fixed = f.offset;
    for (const Label& b : c_.batch) fixed += f.stride(b) * index_.at(b.symbol);
    unrolled(t, "load", l.along_sum ? loads_of(l) : 1, [&](Emitter& e, const Expr& k) {
      const Expr all = points_of(*l.labels);
      const Expr place = number(e, "place", symbolic::min(l.first + place_of_load(l, thread, k), all - 1));
      write(e, tasklet::from_symbolic(fixed + distance(f, *l.labels, place)), l.at, ir::Subset::index({k}));
    });
  }

  // ---- The sum

  void sum_loops(Emitter& e, std::size_t next) {
    if (next < c_.summed.size() - flattened_) {
      const Label& l = c_.summed[next];
      e.loop(l.symbol, 0, l.count, [&](Emitter& inner, const Expr& i) {
        index_.insert_or_assign(l.symbol, i);
        sum_loops(inner, next + 1);
      });
      return;
    }
    const std::int64_t step = tiles_.summed;
    threads(e, "fetch the first tiles", [&](Emitter& t, const Expr& thread) { fetch(t, thread, 0); });
    e.loop("step", 0, symbolic::floor_div(summed_ + (step - 1), step), [&](Emitter& s, const Expr& number_of_step) {
      const Expr from = number_of_step * step;
      threads(s, "store the tiles", [&](Emitter& t, const Expr& thread) { store_tiles(t, thread); });
      threads(s, "fetch the next tiles and multiply these", [&](Emitter& t, const Expr& thread) {
        fetch(t, thread, from + step);
        const Body whole = [&](Emitter& x) {
          unrolled(x, "k", step, [&](Emitter& one, const Expr& k) { multiply(one, thread, k); });
        };
        const Body rest = [&](Emitter& x) {
          x.loop("k", 0, summed_ - from, [&](Emitter& one, const Expr& k) { multiply(one, thread, k); });
        };
        if (symbolic::is_multiple_of(summed_, step, outside_) == symbolic::Truth::kYes)
          whole(t);
        else
          t.branch(tasklet::from_symbolic(symbolic::le(from + step, summed_)), whole, rest);
      });
    });
  }

  void fetch(Emitter& t, const Expr& thread, const Expr& from) {
    for (const Loading* l : {&a_, &b_}) {
      const Factor& f = *l->factor;
      Expr outer = 0;
      for (std::size_t k = 0; k < c_.summed.size() - flattened_; ++k)
        outer += f.stride(c_.summed[k]) * index_.at(c_.summed[k].symbol);
      const auto moved = [&](const Emitter& e, const Expr& k) {
        const Expr at = number(e, "summed", symbolic::min(from + step_of_load(*l, thread, k), summed_ - 1));
        return outer + distance(f, inner_, at);
      };
      const auto load = [&](Emitter& e, const Expr& k, const Expr& address, const Expr& by) {
        const Expr from_here = number(
            e, "from",
            tasklet::Expr::binary(tasklet::BinaryOp::kAdd, library::element_of(l->at, {address}, ScalarType::kInt64),
                                  tasklet::from_symbolic(by)));
        copy(e, l->view, ir::Subset::index({from_here}), l->next, ir::Subset::index({k}));
      };
      if (l->along_sum) {
        const Expr by = number(t, "by", moved(t, 0));
        unrolled(t, "load", loads_of(*l), [&](Emitter& e, const Expr& k) { load(e, k, k, by); });
      } else {
        unrolled(t, "load", loads_of(*l), [&](Emitter& e, const Expr& k) { load(e, k, 0, moved(e, k)); });
      }
    }
  }

  void store_tiles(Emitter& t, const Expr& thread) {
    for (const Loading* l : {&a_, &b_}) {
      unrolled(t, "load", loads_of(*l), [&](Emitter& e, const Expr& k) {
        copy(e, l->next, ir::Subset::index({k}), l->tile,
             ir::Subset::index({step_of_load(*l, thread, k), place_of_load(*l, thread, k)}));
      });
    }
  }

  void multiply(Emitter& e, const Expr& thread, const Expr& k) {
    unrolled(e, "i", tiles_.thread_rows, [&](Emitter& x, const Expr& i) {
      copy(x, a_.tile, ir::Subset::index({k, row_in_tile(thread, i)}), a_part_, ir::Subset::index({i}));
    });
    unrolled(e, "j", tiles_.thread_columns, [&](Emitter& x, const Expr& j) {
      copy(x, b_.tile, ir::Subset::index({k, column_in_tile(thread, j)}), b_part_, ir::Subset::index({j}));
    });
    unrolled(e, "i", tiles_.thread_rows, [&](Emitter& x, const Expr& i) {
      unrolled(x, "j", tiles_.thread_columns, [&](Emitter& y, const Expr& j) { product(y, i, j); });
    });
  }

  // The states of the product, between registers.
  void product(const Emitter& e, const Expr& i, const Expr& j) {
    std::map<std::string, std::string, std::less<>> values;
    const Emitter here = c_.values.empty() ? e : block_in(e, [&](ir::Block& b) {
      for (const std::string& v : c_.values)
        values.emplace(v, declare(b, v, g_.containers.at(v).type.scalar(), {}, ir::Storage::kRegister));
    });
    for (const Piece& p : c_.product) {
      std::unique_ptr<ir::Element> made = ir::clone_renamed(g_, *p.element);
      between_registers(std::get<ir::State>(made->kind), p, i, j, values);
      here.sequence().items.push_back(std::move(made));
    }
  }
  void between_registers(ir::State& s, const Piece& p, const Expr& i, const Expr& j,
                         const std::map<std::string, std::string, std::less<>>& values) {
    std::vector<ir::Node> fresh;
    const auto redirect = [&](ir::Id& end, std::optional<ir::Subset>& subset, const std::string& data, ir::Subset at) {
      fresh.push_back({g_.new_id(), {}, {}, ir::Access{data}});
      end = fresh.back().id;
      subset = std::move(at);
    };
    std::erase_if(s.edges, [&](const ir::Memlet& m) {
      return m.is_order_only() && (access_of(s, m.src) != nullptr || access_of(s, m.dst) != nullptr);
    });
    for (ir::Memlet& m : s.edges) {
      for (const bool source : {true, false}) {
        ir::Id& end = source ? m.src : m.dst;
        std::optional<ir::Subset>& subset = source ? m.src_subset : m.dst_subset;
        const ir::Access* a = access_of(s, end);
        if (a == nullptr) continue;
        const ir::Subset at = symbolic::substitute(*subset, p.symbols);
        if (values.contains(a->data)) {
          subset = ir::Subset();
        } else if (a->data == c_.a.data && at == c_.a.at) {
          redirect(end, subset, a_part_, ir::Subset::index({i}));
        } else if (a->data == c_.b.data && at == c_.b.at) {
          redirect(end, subset, b_part_, ir::Subset::index({j}));
        } else if (a->data == c_.sum) {
          redirect(end, subset, sums_, sum_at(i, j));
          if (m.wcr) m.wcr->lowering = ir::WcrLowering::kPlain;  // a register of one thread
        } else {
          subset = at;
        }
      }
    }
    std::erase_if(s.nodes, [&](const ir::Node& n) {
      return std::holds_alternative<ir::Access>(n.kind) &&
             std::ranges::none_of(s.edges, [&](const ir::Memlet& m) { return m.src == n.id || m.dst == n.id; });
    });
    for (ir::Node& n : s.nodes) {
      auto* a = std::get_if<ir::Access>(&n.kind);
      if (a == nullptr) continue;
      if (const auto it = values.find(a->data); it != values.end()) a->data = it->second;
    }
    for (ir::Node& n : fresh) s.nodes.push_back(std::move(n));
  }

  // ---- Work of points

  symbolic::SymbolSet symbols_of(const std::vector<Piece>& pieces) const {
    symbolic::SymbolSet out;
    for (const Piece& p : pieces) {
      for (const std::string& s : ir::symbols_used(g_, *p.element)) {
        const auto it = p.symbols.find(s);
        if (it == p.symbols.end())
          out.insert(s);
        else
          out.merge(symbolic::free_symbols(it->second));
      }
    }
    return out;
  }
  // The places of labels that are needed, as symbols.
  void name_places(const Emitter& e, const std::vector<Label>& labels, const Expr& number_of_point,
                   const symbolic::SymbolSet& needed, symbolic::Substitution& places) const {
    std::map<std::string, Expr, std::less<>> index;
    locate(labels, number_of_point, index);
    for (const Label& l : labels) {
      if (!needed.contains(l.symbol)) continue;
      places.insert_or_assign(l.symbol, l.first + l.step * number(e, l.symbol, index.at(l.symbol)));
    }
  }

  // `body` for every sum of the thread that belongs to a point, with the values of the labels.
  using PointBody = std::function<void(Emitter&, const Expr& i, const Expr& j, const symbolic::Substitution&)>;
  void points(Emitter& t, const Expr& thread, const symbolic::SymbolSet& needed, const PointBody& body) {
    const auto inside = [&](Emitter& e, const Expr& at, const Expr& all, std::int64_t tile, const Body& then) {
      if (symbolic::is_multiple_of(all, tile, outside_) == symbolic::Truth::kYes)
        then(e);
      else
        e.branch(tasklet::from_symbolic(symbolic::lt(at, all)), then);
    };
    symbolic::Substitution places;
    for (const Label& l : c_.batch) places.insert_or_assign(l.symbol, l.first + l.step * index_.at(l.symbol));
    unrolled(t, "i", tiles_.thread_rows, [&](Emitter& of_row, const Expr& i) {
      const Expr row = number(of_row, "row", a_.first + row_in_tile(thread, i));
      inside(of_row, row, rows_, tiles_.rows, [&](Emitter& in_row) {
        name_places(in_row, c_.rows, row, needed, places);
        unrolled(in_row, "j", tiles_.thread_columns, [&](Emitter& of_column, const Expr& j) {
          const Expr column = number(of_column, "column", b_.first + column_in_tile(thread, j));
          inside(of_column, column, columns_, tiles_.columns, [&](Emitter& point) {
            name_places(point, c_.columns, column, needed, places);
            body(point, i, j, places);
          });
        });
      });
    });
  }
  bool is_label(const std::string& s) const {
    const auto among = [&](const std::vector<Label>& labels) {
      return std::ranges::any_of(labels, [&](const Label& l) { return l.symbol == s; });
    };
    return among(c_.rows) || among(c_.columns) || among(c_.batch);
  }

  // Copies of the pieces, with the labels' values and other names for locals.
  void append(const Emitter& e, const std::vector<Piece>& pieces, const symbolic::Substitution& places,
              const std::map<std::string, std::string, std::less<>>& names) {
    for (const Piece& p : pieces) {
      ir::Sequence copy;
      copy.items.push_back(ir::clone_renamed(g_, *p.element));
      if (!p.symbols.empty()) ir::substitute_symbols(g_, copy, p.symbols);
      ir::substitute_symbols(g_, copy, places);
      ir::rename_containers(g_, copy, names);
      e.sequence().items.push_back(std::move(copy.items.front()));
    }
  }
  // A block with copies of the locals.
  Emitter with_locals(const Emitter& e, const std::vector<std::string>& locals, const symbolic::Substitution& places,
                      std::map<std::string, std::string, std::less<>>& names) {
    if (locals.empty()) return e;
    return block_in(e, [&](ir::Block& b) {
      for (const std::string& name : locals) {
        ir::Container c = g_.containers.at(name);
        c.name = g_.unique_name(name);
        c.layout = c.layout.substituted(places);
        names.emplace(name, c.name);
        b.locals.push_back(c.name);
        g_.containers.insert(std::move(c));
      }
    });
  }

  // The one write that gives the sum its first value, where that is all the work before.
  const ir::Memlet* only_store() const {
    if (c_.before.size() != 1) return nullptr;
    const ir::Memlet* store = nullptr;
    const auto& s = std::get<ir::State>(c_.before.front().element->kind);
    for (const ir::Memlet& m : s.edges) {
      const ir::Access* from = access_of(s, m.src);
      const ir::Access* to = access_of(s, m.dst);
      if (from != nullptr && (to != nullptr || from->data == c_.sum)) return nullptr;
      if (to == nullptr) continue;
      if (store != nullptr || to->data != c_.sum || m.wcr || m.dynamic) return nullptr;
      if (!m.dst_subset || !(symbolic::substitute(*m.dst_subset, c_.before.front().symbols) == c_.sum_at))
        return nullptr;
      store = &m;
    }
    return c_.before_locals.empty() ? store : nullptr;
  }

  void first_sums(Emitter& t, const Expr& thread) {
    symbolic::SymbolSet needed = symbols_of(c_.before);
    const ir::Memlet* store = only_store();
    if (store == nullptr) needed.merge(c_.sum_at.free_symbols());
    const auto first = [&](Emitter& e, const Expr& i, const Expr& j, const symbolic::Substitution& places) {
      std::map<std::string, std::string, std::less<>> names;
      if (store != nullptr) {
        const std::size_t at = e.sequence().items.size();
        append(e, c_.before, places, names);
        auto& s = std::get<ir::State>(e.sequence().items[at]->kind);
        for (ir::Memlet& m : s.edges) {
          ir::Node* to = s.find_node(m.dst);
          auto* a = to == nullptr ? nullptr : std::get_if<ir::Access>(&to->kind);
          if (a == nullptr) continue;
          a->data = sums_;
          m.dst_subset = sum_at(i, j);
        }
        return;
      }
      std::vector<std::string> locals = c_.before_locals;
      if (c_.sum_is_local) locals.push_back(c_.sum);
      const Emitter here = with_locals(e, locals, places, names);
      append(here, c_.before, places, names);
      copy(here, c_.sum_is_local ? names.at(c_.sum) : c_.sum, symbolic::substitute(c_.sum_at, places), sums_,
           sum_at(i, j));
    };
    const bool of_point = std::ranges::any_of(needed, [&](const std::string& s) { return is_label(s); });
    const bool effects = store == nullptr && !c_.sum_is_local;
    if (!of_point && !effects) {
      unrolled(t, "i", tiles_.thread_rows, [&](Emitter& x, const Expr& i) {
        unrolled(x, "j", tiles_.thread_columns, [&](Emitter& y, const Expr& j) { first(y, i, j, {}); });
      });
      return;
    }
    const bool exact = symbolic::is_multiple_of(rows_, tiles_.rows, outside_) == symbolic::Truth::kYes &&
                       symbolic::is_multiple_of(columns_, tiles_.columns, outside_) == symbolic::Truth::kYes;
    if (!exact) {
      unrolled(t, "i", tiles_.thread_rows * tiles_.thread_columns, [&](Emitter& x, const Expr& i) {
        write(x, library::literal(0.0, c_.type), sums_, ir::Subset::index({i}));
      });
    }
    points(t, thread, needed, first);
  }

  void results(Emitter& t, const Expr& thread) {
    symbolic::SymbolSet needed = symbols_of(c_.after);
    needed.merge(c_.sum_at.free_symbols());
    points(t, thread, needed, [&](Emitter& e, const Expr& i, const Expr& j, const symbolic::Substitution& places) {
      std::map<std::string, std::string, std::less<>> names;
      std::vector<std::string> locals = c_.after_locals;
      if (c_.sum_is_local) locals.push_back(c_.sum);
      const Emitter here = with_locals(e, locals, places, names);
      copy(here, sums_, sum_at(i, j), c_.sum_is_local ? names.at(c_.sum) : c_.sum,
           symbolic::substitute(c_.sum_at, places));
      append(here, c_.after, places, names);
    });
  }

  ir::Graph& g_;
  const DeviceContraction& c_;
  const Tiles& tiles_;
  const ir::Element& kernel_;
  const symbolic::Facts& outside_;
  library::CodeNames& names_;
  std::size_t flattened_;
  std::vector<Label> inner_;  // summed labels that are flattened
  Expr rows_, columns_, summed_;
  std::int64_t lanes_ = 1;  // threads side by side along columns
  Loading a_, b_;
  std::string sums_, a_part_, b_part_;
  std::string in_, out_;                              // connectors
  std::map<std::string, Expr, std::less<>> index_;    // of batch labels and loops, by label
  std::map<std::string, Expr, std::less<>> extents_;  // symbols that stand for extents, by label
};

}  // namespace

symbolic::Expr points_of(const std::vector<Label>& labels) {
  Expr out = 1;
  for (const Label& l : labels) out = out * l.count;
  return out;
}

// Divisions by numbers are cheap, others are not: they would be done for each step and thread.
std::size_t flattened_sums(const DeviceContraction& c) {
  std::size_t n = 1;
  while (n < c.summed.size() && c.summed[c.summed.size() - n].count.constant()) ++n;
  return n;
}

std::unique_ptr<ir::Element> tiled_kernel(ir::Graph& g, const DeviceContraction& c, const Tiles& tiles,
                                          const ir::Element& kernel, const symbolic::Facts& outside,
                                          library::CodeNames& names) {
  return TiledKernel(g, c, tiles, kernel, outside, names).run();
}

}  // namespace sdfg::transform
