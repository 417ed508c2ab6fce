import type { Resource } from '../../src/catalog/define.ts';
import type { WireRecord } from './calls.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A request that succeeds, where the shape of the operation does not say it all. */
export interface SampleRequest {
  readonly id?: number;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Which rule of D17 `meta.pagination` follows. */
export type MetaRule = 'documents' | 'patients' | 'transactions' | 'appointmenthistories' | 'others';

/**
 * What the contract tests need to know of a resource beside the catalog. Everything here is written from the
 * specification and the decisions, never read from the code.
 */
export interface ResourceFixture {
  readonly resource: Resource;
  /**
   * Import lines of the practice, without `type` and `organizationId`, ascending ids. Values are canonical (a GET
   * answers them as they stand here), and every filter key tells some of the records from others.
   */
  readonly records: readonly WireRecord[];
  /** Import lines of the other practice: one id that is in `records` too, one that is not. */
  readonly elsewhere: readonly WireRecord[];
  /** Fields of an import line that no answer has. */
  readonly importOnly?: readonly string[];
  readonly meta: MetaRule;
  readonly countNames?: readonly string[];
  /** Terms that every bulk read of the tests carries: a filter that is required, or one against default dates (D13). */
  readonly always?: string;
  /** A body that POST takes, another one each time. */
  readonly create?: (n: number) => Body;
  /** Sources of the errors of a POST of `{}`: every required field. */
  readonly required?: readonly string[];
  /** A body that changes any record of the resource, another one each time. */
  readonly update?: (n: number) => Body;
  /** Lengths of text fields in code points: name, least, most (specification, Limits; contract §8). */
  readonly lengths?: readonly (readonly [name: string, min: number, max: number])[];
  /** Numbers: name, least, most (null: no bound). */
  readonly ranges?: readonly (readonly [name: string, min: number | null, max: number | null])[];
  /** Listed values: name, canonical values (specification). */
  readonly choices?: readonly (readonly [name: string, values: readonly string[]])[];
  /** Links: name, an id that exists, an id that only the other practice has. */
  readonly links?: readonly (readonly [name: string, here: number, elsewhere: number])[];
  readonly dates?: readonly string[];
  readonly dateTimes?: readonly string[];
  readonly booleans?: readonly string[];
  /** What else a body must hold when a field has a value. */
  readonly companions?: (name: string, value: unknown) => Body;
  /** Requests of operations of their own shape, by verb. */
  readonly samples?: Readonly<Record<string, SampleRequest>>;
}
