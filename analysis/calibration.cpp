#include "analysis/calibration.h"

#include "sim/verify.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

namespace analysis {

namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr double simplex_edge = 0.35; // ln: 1.42 times
constexpr double slope_step = 0.10;   // ln: well above the noise of a run, well below what bends a curve
constexpr double step_max = 0.7;      // ln: at most doubled or halved at once
constexpr double ridge = 1e-3;        // what nothing pins stays where it is
constexpr double enough = 0.01;       // a step that gains less than this share is the last one
constexpr double damping_first = 0.01, damping_factor = 10, damping_most = 1000;
constexpr int64_t digits = 1000; // three of them
constexpr int halvings_left_out = 2;

int64_t rounded(double value)
{
    int64_t unit = 1;
    while (value / static_cast<double>(unit) >= static_cast<double>(digits))
        unit *= 10;
    return std::llround(value / static_cast<double>(unit)) * unit;
}

class Search {
public:
    Search(const std::vector<CalibrationParameter> &parameters, const std::vector<CalibrationTarget> &targets,
           const CalibrationEvaluate &evaluate)
        : parameters_(parameters), targets_(targets), evaluate_(evaluate),
          count_(static_cast<Eigen::Index>(parameters.size()))
    {
    }

    CalibrationPoint point(const Vector &x) const
    {
        CalibrationPoint point;
        for (size_t i = 0; i < parameters_.size(); ++i)
            point.push_back(std::clamp(rounded(std::exp(x(static_cast<Eigen::Index>(i)))), parameters_[i].least,
                                       parameters_[i].most));
        return point;
    }
    Vector logs(const CalibrationPoint &point) const
    {
        Vector x(count_);
        for (Eigen::Index i = 0; i < count_; ++i)
            x(i) = std::log(static_cast<double>(point[static_cast<size_t>(i)]));
        return x;
    }
    Vector inside(Vector x) const
    {
        for (Eigen::Index i = 0; i < count_; ++i) {
            const CalibrationParameter &parameter = parameters_[static_cast<size_t>(i)];
            x(i) = std::clamp(x(i), std::log(static_cast<double>(parameter.least)),
                              std::log(static_cast<double>(parameter.most)));
        }
        return x;
    }

    // Evaluates those that are new.
    void visit(const std::vector<CalibrationPoint> &points)
    {
        std::vector<CalibrationPoint> fresh;
        for (const CalibrationPoint &point : points)
            if (known_.count(point) == 0 && std::find(fresh.begin(), fresh.end(), point) == fresh.end())
                fresh.push_back(point);
        if (fresh.empty())
            return;
        const std::vector<CalibrationFigures> figures = evaluate_(fresh);
        VERIFY3(figures.size(), ==, fresh.size());
        for (size_t i = 0; i < fresh.size(); ++i) {
            VERIFY3(figures[i].size(), ==, targets_.size());
            known_[fresh[i]] = figures[i];
        }
    }
    const CalibrationFigures &figures(const CalibrationPoint &point)
    {
        visit({point});
        return known_.at(point);
    }
    // Weighted errors; those of `without` count nothing.
    Vector residuals(const CalibrationFigures &figures, size_t without) const
    {
        Vector r(static_cast<Eigen::Index>(targets_.size()));
        for (size_t i = 0; i < targets_.size(); ++i)
            r(static_cast<Eigen::Index>(i)) =
                i == without ? 0 : std::sqrt(targets_[i].weight) * calibration_error(figures[i], targets_[i].value);
        return r;
    }
    double cost(const CalibrationPoint &point, size_t without = SIZE_MAX)
    {
        return residuals(figures(point), without).squaredNorm();
    }
    uint64_t visited() const { return known_.size(); }

    // Nelder and Mead's simplex, as far as `trials` points go. Returns the best point.
    CalibrationPoint crawl(const CalibrationPoint &start, uint64_t trials)
    {
        struct Corner {
            Vector x;
            double cost;
        };
        const auto corner = [&](const Vector &x) {
            const Vector within = inside(x);
            return Corner{within, cost(point(within))};
        };
        const Vector from = logs(start);
        std::vector<Vector> corners{from};
        for (Eigen::Index i = 0; i < count_; ++i) {
            Vector x = from;
            x(i) += simplex_edge;
            if ((inside(x) - x).norm() > 0)
                x(i) = from(i) - simplex_edge;
            corners.push_back(inside(x));
        }
        std::vector<CalibrationPoint> first;
        for (const Vector &x : corners)
            first.push_back(point(x));
        visit(first);
        std::vector<Corner> simplex;
        for (const Vector &x : corners)
            simplex.push_back(corner(x));

        uint64_t used = simplex.size();
        const auto by_cost = [](const Corner &a, const Corner &b) { return a.cost < b.cost; };
        std::stable_sort(simplex.begin(), simplex.end(), by_cost);
        while (used < trials) {
            Vector middle = Vector::Zero(count_);
            for (size_t i = 0; i + 1 < simplex.size(); ++i)
                middle += simplex[i].x / static_cast<double>(count_);
            Corner &worst = simplex.back();
            const Corner mirrored = corner(2 * middle - worst.x);
            ++used;
            if (mirrored.cost < simplex.front().cost) {
                const Corner further = corner(3 * middle - 2 * worst.x);
                ++used;
                worst = further.cost < mirrored.cost ? further : mirrored;
            } else if (mirrored.cost < simplex[simplex.size() - 2].cost) {
                worst = mirrored;
            } else {
                const Vector better = mirrored.cost < worst.cost ? mirrored.x : worst.x;
                const Corner nearer = corner((middle + better) / 2);
                ++used;
                if (nearer.cost < std::min(mirrored.cost, worst.cost)) {
                    worst = nearer;
                } else {
                    for (size_t i = 1; i < simplex.size(); ++i, ++used)
                        simplex[i] = corner((simplex[0].x + simplex[i].x) / 2);
                }
            }
            std::stable_sort(simplex.begin(), simplex.end(), by_cost);
        }
        return point(simplex.front().x);
    }

    // d ln(figure) / d ln(parameter) around a point, targets by parameters.
    Matrix slopes(const CalibrationPoint &around)
    {
        std::vector<CalibrationPoint> points{around};
        const Vector x = logs(around);
        for (Eigen::Index i = 0; i < count_; ++i) {
            Vector moved = x;
            moved(i) += slope_step;
            if (std::exp(moved(i)) > static_cast<double>(parameters_[static_cast<size_t>(i)].most))
                moved(i) = x(i) - slope_step;
            points.push_back(point(moved));
        }
        visit(points);
        const CalibrationFigures &here = figures(around);
        Matrix slopes = Matrix::Zero(static_cast<Eigen::Index>(targets_.size()), count_);
        for (Eigen::Index i = 0; i < count_; ++i) {
            const CalibrationPoint &there = points[static_cast<size_t>(i) + 1];
            const double width = logs(there)(i) - x(i);
            if (width == 0)
                continue; // bounds so near that it cannot move
            for (size_t t = 0; t < targets_.size(); ++t)
                slopes(static_cast<Eigen::Index>(t), i) = std::log(figures(there)[t] / here[t]) / width;
        }
        return slopes;
    }

    // The step that the slopes promise to be the best, of a length that `damping` keeps small; what would leave its
    // bounds stays on them.
    Vector step(const CalibrationPoint &from, const Matrix &slopes, double damping, size_t without)
    {
        Matrix weighted = slopes;
        for (size_t t = 0; t < targets_.size(); ++t)
            weighted.row(static_cast<Eigen::Index>(t)) *= t == without ? 0 : std::sqrt(targets_[t].weight);
        const Vector r = residuals(figures(from), without);
        const Vector x = logs(from);
        std::vector<bool> fixed(parameters_.size(), false);
        for (Eigen::Index pass = 0; pass <= count_; ++pass) {
            Matrix free_slopes = weighted;
            for (Eigen::Index i = 0; i < count_; ++i)
                if (fixed[static_cast<size_t>(i)])
                    free_slopes.col(i).setZero();
            Matrix normal = free_slopes.transpose() * free_slopes;
            for (Eigen::Index i = 0; i < count_; ++i)
                normal(i, i) += damping * normal(i, i) + ridge;
            Vector by = -normal.ldlt().solve(free_slopes.transpose() * r);
            const double longest = by.cwiseAbs().maxCoeff();
            if (longest > step_max)
                by *= step_max / longest;
            const Vector to = inside(x + by);
            bool again = false;
            for (Eigen::Index i = 0; i < count_; ++i)
                if (!fixed[static_cast<size_t>(i)] && to(i) == x(i) && by(i) != 0)
                    fixed[static_cast<size_t>(i)] = again = true;
            if (!again)
                return to;
        }
        return x;
    }

    // Levenberg and Marquardt. Returns the best point.
    CalibrationPoint descend(CalibrationPoint at, uint64_t rounds)
    {
        double damping = damping_first;
        for (uint64_t round = 0; round < rounds; ++round) {
            const Matrix here = slopes(at);
            const double before = cost(at);
            bool better = false;
            for (; damping <= damping_most && !better; damping *= better ? 1 : damping_factor) {
                const CalibrationPoint next = point(step(at, here, damping, SIZE_MAX));
                better = cost(next) < before;
                if (better)
                    at = next;
            }
            if (!better || before - cost(at) < enough * before)
                break;
            damping = std::max(damping_first, damping / damping_factor);
        }
        // A neighbour that was tried for its slope may be better still.
        for (const auto &[point, figures] : known_)
            if (residuals(figures, SIZE_MAX).squaredNorm() < cost(at))
                at = point;
        return at;
    }

    // The figure of a target where the others, and not it, were fitted: one step on the slopes, shorter where that is
    // worse for the others than standing still.
    double predicted_without(const CalibrationPoint &fitted, const Matrix &slopes, size_t without)
    {
        const Vector x = logs(fitted);
        const Vector by = step(fitted, slopes, 0, without) - x;
        double share = 1;
        for (int halving = 0; halving <= halvings_left_out; ++halving, share /= 2) {
            const CalibrationPoint there = point(x + share * by);
            if (cost(there, without) <= cost(fitted, without))
                return figures(there)[without];
        }
        return figures(fitted)[without];
    }

private:
    const std::vector<CalibrationParameter> &parameters_;
    const std::vector<CalibrationTarget> &targets_;
    const CalibrationEvaluate &evaluate_;
    Eigen::Index count_;
    std::map<CalibrationPoint, CalibrationFigures> known_;
};

} // namespace

double calibration_error(double figure, double target)
{
    return std::log(figure / target);
}

CalibrationResult calibrate(const std::vector<CalibrationParameter> &parameters,
                            const std::vector<CalibrationTarget> &targets, const CalibrationOptions &options,
                            const CalibrationEvaluate &evaluate)
{
    VERIFY(!parameters.empty());
    VERIFY(!targets.empty());
    CalibrationResult result;
    for (const CalibrationParameter &parameter : parameters) {
        VERIFY3(parameter.least, >=, 1);
        VERIFY3(parameter.least, <=, parameter.start);
        VERIFY3(parameter.start, <=, parameter.most);
        result.start.push_back(parameter.start);
    }
    Search search(parameters, targets, evaluate);
    result.at_start = search.figures(result.start);
    result.start_cost = search.cost(result.start);
    result.fitted = options.trials > 0 ? search.crawl(result.start, options.trials) : result.start;
    if (search.cost(result.fitted) > result.start_cost)
        result.fitted = result.start;
    result.fitted = search.descend(result.fitted, options.rounds);
    result.at_fitted = search.figures(result.fitted);
    result.cost = search.cost(result.fitted);

    const Matrix slopes = search.slopes(result.fitted);
    for (Eigen::Index i = 0; i < slopes.cols(); ++i) {
        result.slopes.emplace_back();
        for (Eigen::Index t = 0; t < slopes.rows(); ++t)
            result.slopes.back().push_back(slopes(t, i));
    }
    if (options.leave_one_out)
        for (size_t t = 0; t < targets.size(); ++t)
            result.predicted.push_back(search.predicted_without(result.fitted, slopes, t));
    result.points = search.visited();
    return result;
}

} // namespace analysis
