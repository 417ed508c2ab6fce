// What the oracle reads records of the API with: nothing here is code of the product.

/** A record of the API, or a part of one. */
export type Fields = Readonly<Record<string, unknown>>;

/** All records of a practice. */
export interface Records {
  readonly patients: readonly Fields[];
  readonly appointments: readonly Fields[];
  readonly missedappointments: readonly Fields[];
  readonly transactions: readonly Fields[];
  readonly transactiontags: readonly Fields[];
  readonly documents: readonly Fields[];
  /** Transactions that the server no longer has, as they were last; none where no history is kept. */
  readonly vanished: readonly Fields[];
  /** Transactions as they were first, by id; none where no history is kept. */
  readonly first: ReadonlyMap<string, Fields>;
}

/** What a report is asked. */
export interface Asked {
  readonly today: string;
  readonly now: string;
  readonly locations: readonly string[] | null;
  /** The zone of a location by its id; of no location: of `null`. */
  readonly zoneOf: (location: string | null) => string;
}

/** Rows by the names of columns; ids as text, money in cents. */
export type Row = Record<string, string | number | boolean | null>;

/** The id of a link, as text; null for none. */
export const idIn = (link: unknown): string | null => {
  const id = (link as { id?: unknown } | null | undefined)?.id;
  return id === undefined || id === null ? null : String(id);
};
/** A text, null for none. */
export const textIn = (value: unknown) => (value === undefined ? null : (value as string | null));
/** Whole cents of dollars. */
export const cents = (dollars: unknown) => Math.round(Number(dollars) * 100);
/** Whether an appointment is booked. */
export const isBooked = ({ status }: Fields) => !['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'].includes(String(status));

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local date of an instant. */
export function dateIn(zone: string, instant: string): string {
  const known = formats.get(zone);
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const format = known ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...parts });
  formats.set(zone, format);
  return format.format(new Date(instant));
}

/** Whole months from a date to another, by counting. */
export function monthsBetween(date: string, today: string): number {
  let months = 0;
  while (earlier(today, months + 1) >= date) months++;
  return months;
}

/** The date so many months earlier; the last of the month where it has no such day. */
export function earlier(date: string, months: number): string {
  let [year, month] = date.split('-').map(Number) as [number, number];
  for (let left = months; left > 0; left--) {
    month--;
    if (month === 0) [year, month] = [year - 1, 12];
  }
  for (let day = Number(date.slice(8)); ; day--) {
    const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
    if (new Date(`${text}T00:00:00Z`).getUTCDate() === day) return text;
  }
}

const KINDS = ['MOBILE', 'HOME', 'WORK'];

/** A part of how a payment was made. */
export function paymentOf({ patientPaymentBilling }: Fields, field: string): string | null {
  return textIn((patientPaymentBilling as Fields | null | undefined)?.[field]);
}

/** The numbers of a patient's own phones, in the order in which they are called. */
export function numbersOf(patient: Fields | undefined): string[] {
  const phones = (patient?.phones ?? []) as {
    phoneType: string;
    number: string;
    sequence: number | null;
    id: number;
  }[];
  const rank = (kind: string) => (KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length);
  return phones
    .filter(({ phoneType, number }) => phoneType !== 'FAX' && /[0-9]/.test(number))
    .toSorted(
      (a, b) =>
        rank(a.phoneType) - rank(b.phoneType) ||
        (a.sequence ?? 1e9) - (b.sequence ?? 1e9) ||
        Number(a.id) - Number(b.id),
    )
    .map(({ number }) => number);
}

/** By a text, then by id. */
export function byKeys(keyOf: (record: Fields) => string) {
  return (a: Fields, b: Fields) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    if (left !== right) return left < right ? -1 : 1;
    return BigInt(String(a.id)) < BigInt(String(b.id)) ? -1 : 1;
  };
}

/** Rows in order: no value last, ids by number, text in any letter case first; ties by id. */
export function sorted(rows: readonly Row[], keys: readonly string[], tie: string): Row[] {
  return rows.toSorted((a, b) => {
    for (const key of [...keys, tie]) {
      const name = key.replace('-', '');
      const [left, right] = [a[name] ?? null, b[name] ?? null];
      if (left === null && right === null) continue;
      if (left === null || right === null) return left === null ? 1 : -1;
      const order = name.endsWith('id')
        ? compare(BigInt(String(left)), BigInt(String(right)))
        : compareTexts(left, right);
      if (order !== 0) return key.startsWith('-') ? -order : order;
    }
    return 0;
  });
}

function compareTexts(a: unknown, b: unknown): number {
  return compare(String(a).toLowerCase(), String(b).toLowerCase()) || compare(String(a), String(b));
}

function compare<T extends string | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
