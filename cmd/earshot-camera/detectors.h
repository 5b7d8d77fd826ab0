// What gocv lacks: the weights of what the detectors found, and a people detector
// whose coefficients stay in memory.

#ifndef EARSHOT_DETECTORS_H
#define EARSHOT_DETECTORS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int x, y, width, height; // in pixels
    int neighbours;          // windows of which it was made
    double weight;           // by how much the best of them was over the threshold
} detection;

typedef void *detector;

// detector_people returns the detector of standing people, NULL if there is none.
detector detector_people(void);

// detector_faces returns one that is in a file, NULL if the file is none.
detector detector_faces(const char *path);

// detector_find finds up to most things in a grey picture, which is a cv::Mat. It
// returns how many, or -1 if OpenCV threw something.
int detector_find(detector d, void *grey, double scale, int least, detection *found, int most);

void detector_free(detector d);

#ifdef __cplusplus
}
#endif

#endif
