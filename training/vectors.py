"""Initial word vectors from co-occurrence in the packages' prose, docs and code."""
import numpy as np
import scipy.sparse as sparse

WINDOW = 6
SMOOTH = .75
SHIFT = 0.0
LEAST_COUNT = 2.0


def near(streams, vocabulary):
    """Counts co-occurrences of words, weighted by distance. Streams are lists of lists of words."""
    size = len(vocabulary.words)
    total = sparse.csr_matrix((size, size), dtype=np.float32)
    ids, chunk = vocabulary.ids, []

    def add(total, chunk):
        text = np.array(chunk, np.int32)
        pending = None
        for distance in range(1, WINDOW + 1):
            left, right = text[:-distance], text[distance:]
            good = (left >= 0) & (right >= 0)
            # The gap between texts is as wide as the window.
            one = sparse.coo_matrix((np.full(int(good.sum()), 1.0 / distance, np.float32), (left[good], right[good])), shape=(size, size)).tocsr()
            pending = one if pending is None else pending + one
        return total + pending

    for stream in streams:
        chunk += [ids.get(word, -1) for word in stream] + [-1] * WINDOW
        if len(chunk) > 4_000_000:
            total = add(total, chunk)
            chunk = []
    if len(chunk) > WINDOW + 1:
        total = add(total, chunk)
    return total + total.T


def start(counts, width, seed):
    """Positive pointwise mutual information, reduced to its strongest directions by a random projection and two iterations."""
    counts = counts.tocoo()
    keep = counts.data >= LEAST_COUNT
    row, column, data = counts.row[keep], counts.col[keep], counts.data[keep].astype(np.float64)
    size = counts.shape[0]
    of_row = np.bincount(row, data, size)
    of_column = np.bincount(column, data, size) ** SMOOTH
    value = np.log(data * of_column.sum() / (of_row[row] * of_column[column])) - SHIFT
    keep = value > 0
    matrix = sparse.csr_matrix((value[keep].astype(np.float32), (row[keep], column[keep])), shape=counts.shape)
    random = np.random.default_rng(seed)
    basis = matrix @ random.standard_normal((size, width + 24)).astype(np.float32)
    for _ in range(2):
        basis, _ = np.linalg.qr(basis)
        basis = matrix @ (matrix.T @ basis)
    basis, _ = np.linalg.qr(basis)
    small = (matrix.T @ basis).T
    left, strength, _ = np.linalg.svd(small, full_matrices=False)
    found = (basis @ left[:, :width]) * np.sqrt(strength[:width])
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return (found / np.maximum(length, 1e-6)).astype(np.float32)
