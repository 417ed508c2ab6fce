import { Draws } from './random.ts';

const HOUR = 3_600_000;

/** What the specification leaves open, settled. Every choice keeps the specification; most are unhelpful. */
export interface Moods {
  /** Records and envelopes have fields that no document mentions. */
  readonly extraFields: boolean;
  /** Some generated records have enumeration values that the specification does not list. */
  readonly unknownEnums: boolean;
  /** Fields without a value are left out instead of being null. */
  readonly missingFields: boolean;
  /** Some generated patients and events have no `lastModified`; a filter by it never finds them. */
  readonly undatedRecords: boolean;
  /** What is serialized as a string: nothing, ids, or every number. */
  readonly strings: 'none' | 'ids' | 'numbers';
  readonly countsAsStrings: boolean;
  /** The name of a count where the specification shows none. */
  readonly countName: 'total' | 'totalCount';
  /** Whether bulk reads have `meta` only where the specification shows its fields. */
  readonly bareMeta: boolean;
  /** Whether `meta.pagination.total` holds a count; otherwise 0, or absent where allowed. */
  readonly totals: boolean;
  /** Records on a page, however many are asked for. */
  readonly pageCap: number;
  readonly historyOrder: 'ascending' | 'descending' | 'shuffled';
  /**
   * Order of events filtered by start or lastModified: newest first always, only in requests without lastId, or within
   * a page whose records are those with the lowest ids.
   */
  readonly newestFirst: 'always' | 'withoutLastId' | 'withinPage';
  readonly encoding: 'gzip' | 'br' | 'identity';
  readonly chunked: boolean;
  /** What a deletion answers where the specification shows nothing. */
  readonly deletes: 'null' | 'id';
  readonly instants: 'milliseconds' | 'seconds' | 'offset' | 'local';
  /** Milliseconds that the clock of the service is ahead. */
  readonly clockAhead: number;
  /** Where ids of new records lie: above the existing ones, anywhere, or below. */
  readonly newIds: 'rising' | 'scattered' | 'falling';
  readonly jpegExtension: 'jpg' | 'jpeg';
  /** Letter case in which names of new document tags are stored. */
  readonly tagCase: 'asSent' | 'upper' | 'lower';
  /** The announced change: a location filter is required. */
  readonly requireLocation: boolean;
  /** Whether date filters that the specification says may be applied are applied. */
  readonly automaticDates: boolean;
  /** Whether an automatic lastModified filter leaves records without lastModified, which a sent one never finds. */
  readonly automaticKeepsUndated: boolean;
  /** Whether a lastModified filter keeps the automatic transactionDate filter away. */
  readonly modifiedLimitsTransactions: boolean;
  /** Days of a lastModified range without other scoping from which the answer is 408; null means any range is answered. */
  readonly wideDays: number | null;
  /** Whether `wideDays` holds for events, histories and transactions too. */
  readonly wideEverywhere: boolean;
  /** What a report without data answers. */
  readonly emptyReports: 'notFound' | 'empty';
  readonly reorderedKeys: boolean;
  /** Whether `!=` drops records that do not have the field. */
  readonly missingNeverDiffers: boolean;
  /** What items of `errors` hold: descriptions, messages, or nothing but the words of the status. */
  readonly errorItems: 'descriptions' | 'messages' | 'titles';
  /** Whether a correction gives the transaction that it corrects a new lastModified. */
  readonly correctionsAreDated: boolean;
}

/** The service at its most regular. */
export const PLAIN: Moods = {
  extraFields: false,
  unknownEnums: false,
  missingFields: false,
  undatedRecords: false,
  strings: 'none',
  countsAsStrings: false,
  countName: 'total',
  bareMeta: false,
  totals: false,
  pageCap: 50,
  historyOrder: 'ascending',
  newestFirst: 'withinPage',
  encoding: 'identity',
  chunked: false,
  deletes: 'id',
  instants: 'milliseconds',
  clockAhead: 0,
  newIds: 'rising',
  jpegExtension: 'jpeg',
  tagCase: 'asSent',
  requireLocation: false,
  automaticDates: false,
  automaticKeepsUndated: false,
  modifiedLimitsTransactions: true,
  wideDays: null,
  wideEverywhere: false,
  emptyReports: 'empty',
  reorderedKeys: false,
  missingNeverDiffers: false,
  errorItems: 'descriptions',
  correctionsAreDated: true,
};

/** The moods of a seed. */
export function moodsOf(seed: string): Moods {
  const draws = new Draws(`moods ${seed}`);
  const coin = () => draws.chance(0.5);
  return {
    extraFields: coin(),
    unknownEnums: coin(),
    missingFields: coin(),
    undatedRecords: coin(),
    strings: draws.one(['none', 'ids', 'numbers']),
    countsAsStrings: coin(),
    countName: draws.one(['total', 'totalCount']),
    bareMeta: coin(),
    totals: coin(),
    pageCap: draws.whole(7, 50),
    historyOrder: draws.one(['ascending', 'descending', 'shuffled']),
    newestFirst: draws.one(['always', 'withoutLastId', 'withinPage']),
    encoding: draws.one(['gzip', 'br', 'identity']),
    chunked: coin(),
    deletes: draws.one(['null', 'id']),
    instants: draws.one(['milliseconds', 'seconds', 'offset', 'local']),
    clockAhead: Math.round((draws.fraction() * 3 - 1.5) * HOUR),
    newIds: draws.one(['rising', 'scattered', 'falling']),
    jpegExtension: draws.one(['jpg', 'jpeg']),
    tagCase: draws.one(['asSent', 'upper', 'lower']),
    requireLocation: draws.chance(0.3),
    automaticDates: draws.chance(0.7),
    automaticKeepsUndated: coin(),
    modifiedLimitsTransactions: coin(),
    wideDays: draws.one([null, 100, 400, 1500]),
    wideEverywhere: coin(),
    emptyReports: draws.one(['notFound', 'empty']),
    reorderedKeys: coin(),
    missingNeverDiffers: coin(),
    errorItems: draws.one(['descriptions', 'messages', 'titles']),
    correctionsAreDated: coin(),
  };
}
