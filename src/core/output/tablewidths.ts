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

/** No column is cut below this. */
const NARROWEST = 5;

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
  while (excess > 0) {
    const at = widestAbove(widths, needs);
    if (at === undefined) return undefined;
    widths[at] = (widths[at] ?? 0) - 1;
    excess--;
  }
  return widths;
}

function natural(need: ColumnNeed): number {
  return Math.max(need.header, need.cells);
}

function widestAbove(widths: readonly number[], needs: readonly ColumnNeed[]): number | undefined {
  let best: number | undefined;
  for (const [index, width] of widths.entries()) {
    const need = needs[index];
    const least = Math.max(NARROWEST, need?.isId ? need.cells : 0);
    if (width > least && (best === undefined || width > (widths[best] ?? 0))) best = index;
  }
  return best;
}
