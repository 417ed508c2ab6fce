import { GAP } from './tablewidths.ts';

const EDGES = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const INNER = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];

/** Options of cli-table3 for a table without lines or colours, its columns apart by a gap. */
export const BARE_TABLE = {
  chars: { ...Object.fromEntries([...EDGES, ...INNER].map((name) => [name, ''])), middle: ' '.repeat(GAP) },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
};
