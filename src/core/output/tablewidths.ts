/** What is known of a column when a table is laid out; widths in columns of the terminal. */
export interface ColumnNeed {
  readonly header: number;
  /** Of its widest cell. */
  readonly cells: number;
  /** Its cells are never cut; its header may be. */
  readonly isId: boolean;
}

/** Between two columns of a table. */
export const GAP = 2;

/** No header is cut below this. */
const NARROWEST = 5;

/** No cell is cut below this: columns are left out before that. */
const READABLE = 10;

/**
 * Widths of as many leading columns as fit into `available`: the widest ones that may be cut give way first. The
 * first column is always there, so the result may be wider than the terminal only when an id itself is.
 */
export function tableWidths(needs: readonly ColumnNeed[], available: number): number[] {
  for (let count = needs.length; count > 1; count--) {
    const widths = fitted(needs.slice(0, count), available);
    if (widths !== undefined) return widths;
  }
  return needs.slice(0, 1).map((need) => (need.isId ? Math.max(need.cells, 2) : Math.min(natural(need), available)));
}

function fitted(needs: readonly ColumnNeed[], available: number): number[] | undefined {
  const widths = needs.map(natural);
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP * (needs.length - 1) - available;
  // A cut header can still be guessed; so headers give way before any cell does.
  const floors = [
    needs.map((need) => Math.max(NARROWEST, need.cells)),
    needs.map((need) => Math.max(NARROWEST, need.isId ? need.cells : Math.min(need.cells, READABLE))),
  ];
  for (const floor of floors) {
    for (let at = widestAbove(floor, widths); excess > 0 && at !== undefined; at = widestAbove(floor, widths)) {
      widths[at] = (widths[at] ?? 0) - 1;
      excess--;
    }
  }
  return excess > 0 ? undefined : widths;
}

function natural(need: ColumnNeed): number {
  return Math.max(need.header, need.cells);
}

function widestAbove(floor: readonly number[], widths: readonly number[]): number | undefined {
  let best: number | undefined;
  for (const [index, width] of widths.entries()) {
    if (width > (floor[index] ?? 0) && (best === undefined || width > (widths[best] ?? 0))) best = index;
  }
  return best;
}
