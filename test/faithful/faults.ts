import { Draws } from './random.ts';

const KINDS = [
  'html502',
  'empty504',
  'unavailable503',
  'error500',
  'limited429',
  'timeout408',
  'cutBeforeBytes',
  'cutInBody',
  'html200',
  'truncatedJson',
  'truncatedGzip',
] as const;

export type FaultKind = (typeof KINDS)[number];

/** What goes wrong with one request. */
export interface Fault {
  readonly kind: FaultKind;
  /** Whether it goes wrong once the work was done. */
  readonly after: boolean;
  /** Milliseconds after which the work is done although the request has ended; never where absent. */
  readonly late?: number;
}

/** Gives the fault of a request, or undefined; `kind` names requests of the same kind. */
export type Faults = (kind: string) => Fault | undefined;

export const NO_FAULTS: Faults = () => undefined;

/** Most faults in a row for requests of one kind, so that a client with five retries gets through. */
const IN_A_ROW = 3;

/** What is only sent before the work, and what needs its answer. */
const BEFORE: readonly FaultKind[] = ['limited429'];
const AFTER: readonly FaultKind[] = ['cutInBody', 'truncatedJson', 'truncatedGzip'];

/** What ends a request that the service may still be at, and for how long it may be: less than a second. */
const LATE: readonly FaultKind[] = ['empty504', 'timeout408', 'cutBeforeBytes'];
const LATEST = 900;

/** Faults for a share of all requests, the same ones for a seed, however requests interleave. */
export function faultsOf(seed: string, rate: number): Faults {
  const seen = new Map<string, { requests: number; inARow: number }>();
  return (kind) => {
    const state = seen.get(kind) ?? { requests: 0, inARow: 0 };
    seen.set(kind, state);
    const draws = new Draws(`faults ${seed} ${kind} ${state.requests++}`);
    if (rate <= 0 || state.inARow >= IN_A_ROW || !draws.chance(rate)) {
      state.inARow = 0;
      return undefined;
    }
    state.inARow++;
    const fault = draws.one(KINDS);
    const after = AFTER.includes(fault) || (!BEFORE.includes(fault) && draws.chance(0.5));
    const late = !after && LATE.includes(fault) && draws.chance(0.3);
    return { kind: fault, after, ...(late ? { late: draws.whole(1, LATEST) } : {}) };
  };
}
