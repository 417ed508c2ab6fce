/** The candidate that is most likely meant by a mistyped name, undefined when none is close. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best === undefined) return undefined;
  const allowed = Math.max(1, Math.floor(Math.max(wanted.length, best.candidate.length) / 3));
  return best.distance <= allowed ? best.candidate : undefined;
}

/** ` Did you mean X?`, to append to a message; empty when no candidate is close. `mark` goes before the candidate. */
export function didYouMean(name: string, candidates: readonly string[], mark = ''): string {
  const near = nearest(name, candidates);
  return near === undefined ? '' : ` Did you mean ${mark}${near}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const ways = [
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        ...(swapped ? [(before[column - 2] ?? 0) + 1] : []),
      ];
      current.push(Math.min(...ways));
    }
    before = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
