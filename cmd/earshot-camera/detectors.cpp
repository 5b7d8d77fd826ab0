#include "detectors.h"

#include <algorithm>
#include <new>

#include <opencv2/objdetect.hpp>

namespace {

struct finder {
    virtual ~finder() {}
    virtual void find(const cv::Mat &grey, double scale, int least, std::vector<cv::Rect> &found,
                      std::vector<int> &neighbours, std::vector<double> &weights) = 0;
};

// people are found by histograms of oriented gradients (Dalal and Triggs, 2005).
struct people : finder {
    cv::HOGDescriptor hog;
    people() { hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector()); }
    void find(const cv::Mat &grey, double scale, int least, std::vector<cv::Rect> &found, std::vector<int> &neighbours,
              std::vector<double> &weights) override {
        hog.detectMultiScale(grey, found, weights, 0, cv::Size(8, 8), cv::Size(8, 8), scale, least, false);
        neighbours.assign(found.size(), least);
    }
};

// faces are found by a cascade of Haar features (Viola and Jones, 2001).
struct faces : finder {
    cv::CascadeClassifier cascade;
    void find(const cv::Mat &grey, double scale, int least, std::vector<cv::Rect> &found, std::vector<int> &neighbours,
              std::vector<double> &weights) override {
        cascade.detectMultiScale(grey, found, neighbours, weights, scale, least, 0, cv::Size(24, 24), cv::Size(), true);
        // which made neighbours the stages that were passed: always all of them
    }
};

} // namespace

detector detector_people(void) {
    try {
        return static_cast<finder *>(new people);
    } catch (...) {
        return nullptr;
    }
}

detector detector_faces(const char *path) {
    faces *f = nullptr;
    try {
        f = new faces;
        if (f->cascade.load(path) && !f->cascade.empty())
            return static_cast<finder *>(f);
    } catch (...) {
    }
    delete f;
    return nullptr;
}

int detector_find(detector d, void *grey, double scale, int least, detection *found, int most) {
    try {
        std::vector<cv::Rect> rects;
        std::vector<int> neighbours;
        std::vector<double> weights;
        static_cast<finder *>(d)->find(*static_cast<cv::Mat *>(grey), scale, least, rects, neighbours, weights);
        int n = std::min({most, int(rects.size()), int(neighbours.size()), int(weights.size())});
        for (int i = 0; i < n; i++)
            found[i] = {rects[i].x, rects[i].y, rects[i].width, rects[i].height, neighbours[i], weights[i]};
        return n;
    } catch (...) {
        return -1;
    }
}

void detector_free(detector d) { delete static_cast<finder *>(d); }
