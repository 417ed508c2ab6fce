import type { Draws } from '../../faithful/random.ts';
import { dateIn, earlier, type Fields } from './records.ts';

/** Days on which something is easily a day or an hour off: clocks change, months and years end, leap days. */
export const DAYS = [
  '2026-03-08',
  '2026-11-01',
  '2026-09-06',
  '2026-04-24',
  '2026-12-31',
  '2028-02-29',
  '2027-02-28',
  '2026-08-31',
  '2026-03-01',
];

/** Zones whose clocks change at night and at midnight, and others far from each other. */
const ZONES = [
  'America/Denver',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Kolkata',
  'Pacific/Auckland',
  'UTC',
  'Pacific/Pago_Pago',
];

const NAMES = ['Smith', 'smith', 'SMITH', 'Smithe', 'Adams', 'adams', 'Young', "O'Neil"];
const STATUSES = ['NEW', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'NON-PATIENT', 'INACTIVE', 'DUPLICATE', 'DISMISSED', 'DECEASED'];
const APPOINTMENTS = [
  'COMPLETED',
  'CHECKOUT',
  'CONFIRMED',
  'UNCONFIRMED',
  'LEFT_MESSAGE',
  'WILL_CALL',
  'UNREACHABLE',
  'HERE',
  'NO_SHOW',
  'BROKEN',
  'CANCELLEDBYOFFICE',
];
const LEDGER = [
  'PatientChargeAdjustment',
  'PatientCreditAdjustment',
  'InsuranceRefundAdjustment',
  'PatientCreditCardRefund',
  'PatientCreditCardVoid',
  'PatientProcedureLedger',
  'InsurancePayment',
  'PatientProcedurePayment',
];
/** Texts that a statement must not take for something else. */
const NOTES = [null, '', "it's late", 'a "quoted" note', 'zwei\nZeilen', "'; DROP TABLE patients; --", '$1 ? :name'];
/** Tags with letters beyond ASCII, in several letter cases. */
export const TAGS = ['Consent', 'CONSENT', 'consent', 'Röntgen', 'RÖNTGEN', "patient's id", 'ΣΑΣ', 'σας', 'X-ray'];

/** A date at most so many days from another. */
export function dateNear(date: string, draws: Draws, days: number): string {
  return new Date(Date.parse(date) + draws.whole(-days, days) * 86_400_000).toISOString().slice(0, 10);
}

/** Records of a made-up practice around a day on which much is at a boundary. */
export class RandomPractice {
  readonly now: string;
  /** Of the locations whose zone is known; the others are in `otherwise`. */
  readonly zones: readonly { readonly zone: string; readonly locations: readonly string[] }[];
  readonly otherwise: string;
  readonly patientIds: readonly string[];
  private readonly midday: number;

  constructor(
    private readonly draws: Draws,
    readonly today: string,
  ) {
    this.midday = Date.parse(`${today}T12:00:00Z`);
    this.now = this.instant(1);
    const [first, second, third] = draws.shuffled(ZONES);
    this.otherwise = draws.one(ZONES);
    this.zones = [
      { zone: first as string, locations: ['1', '2'] },
      { zone: second as string, locations: ['9007199254740993'] },
      { zone: third as string, locations: ['3'] },
    ].slice(0, draws.whole(0, 3));
    // Ids beyond 2^53 differ by one: they are kept apart only where they stay exact.
    this.patientIds = Array.from({ length: 50 }, (_, at) =>
      at < 5 ? `900719925474099${at + 1}` : String(100 + at * 7),
    );
  }

  /** The zone of a location. */
  readonly zoneOf = (location: string | null): string =>
    this.zones.find(({ locations }) => location !== null && locations.includes(location))?.zone ?? this.otherwise;

  /** Records of the API by resource. */
  records() {
    const appointments = this.appointments();
    return {
      patients: this.patients(),
      appointments,
      missedappointments: this.missedAppointments(appointments),
      transactions: this.transactions(),
      transactiontags: this.transactiontags(),
      documents: this.documents(),
    };
  }

  private patients(): Fields[] {
    const { draws } = this;
    return this.patientIds.map((id) => ({
      id,
      firstName: draws.one(NAMES),
      lastName: draws.one(NAMES),
      preferredName: draws.one([null, 'Bo']),
      dateOfBirth: draws.chance(0.3)
        ? `19${draws.whole(50, 99)}-02-28`
        : draws.chance(0.3)
          ? '1984-02-29'
          : this.birth(),
      patientStatus: draws.one(STATUSES),
      contactMethod: draws.one(['Call me', 'Text me', 'Email me']),
      languageType: draws.one(['English', 'Spanish']),
      chartNumber: draws.one([null, '007', 'A-1']),
      emailAddress: draws.one([null, '', 'a@example.com']),
      phones: this.phones(),
      preferredLocation: this.location(),
      primaryGuarantor: this.person(),
      primaryContact: this.person(),
    }));
  }

  private appointments(): Fields[] {
    return Array.from({ length: 260 }, (_, at) => {
      const start = this.draws.chance(0.6) ? this.instant(4) : this.instant(900);
      const duration = this.draws.one([30, 60, 600]);
      const end = new Date(Date.parse(start) + duration * 60_000).toISOString();
      const [status, note] = [this.draws.one(APPOINTMENTS), this.draws.one(NOTES)];
      return { id: 1000 + at, start, end, duration, status, note, ...this.links() };
    });
  }

  private missedAppointments(appointments: readonly Fields[]): Fields[] {
    const missed = Array.from({ length: 60 }, (_, at) => ({
      id: 5000 + at,
      appointment: { id: 1000 + this.draws.whole(0, 300) },
      start: this.draws.chance(0.7) ? this.instant(4) : this.instant(60),
      duration: 30,
      status: this.draws.one(['NO_SHOW', 'BROKEN']),
      procedures: this.draws.one(NOTES),
      reasonCancelled: this.draws.one(NOTES),
      cancelledOn: this.draws.one([null, this.instant(3)]),
      rescheduledOn: this.draws.one([null, null, this.instant(3)]),
      ...this.links(),
    }));
    // Some are at the very time of an appointment of the patient, which is not after them.
    return missed.map((one) => {
      const { start, patient } = this.draws.one(appointments);
      return this.draws.chance(0.5) ? { ...one, start, patient } : one;
    });
  }

  private transactiontags(): Fields[] {
    return [1, 2, 3].map((id) => ({ id, tagText: `Tag ${id}`, tagType: 'ADJUSTMENT_TAG', isPredefined: false }));
  }

  private transactions(): Fields[] {
    return Array.from({ length: 400 }, (_, at) => ({ id: 10_000 + at, ...this.entry() }));
  }

  /** What a transaction may become. */
  changed(transaction: Fields): Fields {
    const { amount, transactionDate, patient, location, provider, note } = this.entry();
    const changes = { amount, transactionDate, patient, location, provider, note, isPartialPayment: true };
    return { ...transaction, ...Object.fromEntries([this.draws.one(Object.entries(changes))]) };
  }

  private documents(): Fields[] {
    return Array.from({ length: 120 }, (_, at) => ({
      id: 20_000 + at,
      name: `${at}.pdf`,
      ownerPatient: this.draws.chance(0.9) ? this.person() : null,
      tags: this.draws.shuffled(TAGS).slice(0, this.draws.whole(0, 3)),
      userDefinedDate: this.draws.one([null, this.date(40), this.date(3)]),
    }));
  }

  /** An instant near today, near a day some months ago, or at most so many days away; often at a local midnight. */
  private instant(days: number): string {
    const { draws } = this;
    const around = draws.chance(0.4) ? Date.parse(`${earlier(this.today, draws.whole(0, 7))}T12:00:00Z`) : this.midday;
    const at = around + draws.whole(-days * 48, days * 48) * 1_800_000 - draws.one([0, 0, 1]);
    const midnight = new Date(at - (at % 86_400_000)).toISOString();
    return draws.chance(0.2) ? this.localMidnight(midnight) : new Date(at).toISOString();
  }

  /** The first quarter of an hour of a date in one of the zones, by looking. */
  private localMidnight(day: string): string {
    const zone = this.draws.one(ZONES);
    const date = day.slice(0, 10);
    let at = Date.parse(day) - 86_400_000;
    // First by hours, a quarter of the looks: none of the zones shows a date for less than that.
    while (dateIn(zone, new Date(at + 3_600_000).toISOString()) < date) at += 3_600_000;
    while (dateIn(zone, new Date(at).toISOString()) < date) at += 900_000;
    return new Date(at).toISOString();
  }

  private entry() {
    const { draws } = this;
    const tags = draws.shuffled([1, 2, 3, 99]).slice(0, draws.whole(0, 3));
    return {
      ledgerType: draws.one(LEDGER),
      amount: draws.whole(-99_999, 99_999) / 100,
      transactionDate: draws.chance(0.5) ? this.date(3) : earlier(this.date(2), draws.whole(0, 9)),
      entryDate: this.instant(4),
      isActive: draws.chance(0.8),
      isAutomaticallyPosted: draws.chance(0.2),
      note: draws.one(NOTES),
      previousTransaction: draws.one([null, { id: 10_001 }]),
      patientPaymentBilling: draws.one([null, { checkNumber: '0012', bankNumber: '', referenceNumber: "r'1" }]),
      transactionTags: Object.fromEntries(tags.map((id, at) => [String(at + 9), { id }])),
      ...this.links(),
    };
  }

  private links() {
    return {
      patient: this.person(),
      location: this.location(),
      operatory: this.draws.one([null, { id: 31 }, { id: 32 }]),
      provider: this.draws.one([null, { id: 41 }, { id: 42 }]),
    };
  }

  /** A patient, one who is gone, or nobody. */
  private person(): Fields | null {
    return this.draws.one([
      { id: this.draws.one(this.patientIds) },
      { id: this.draws.one(this.patientIds) },
      { id: 77 },
      null,
    ]);
  }

  private location(): Fields | null {
    return this.draws.one([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: '9007199254740993' }, null]);
  }

  private date(days: number): string {
    return dateNear(this.today, this.draws, days);
  }

  private birth(): string {
    return this.draws.one([
      this.date(400),
      `19${this.draws.whole(30, 99)}-${this.date(12).slice(5)}`,
      `2001-${this.date(2).slice(5)}`,
    ]);
  }

  private phones(): Fields[] {
    const { draws } = this;
    return Array.from({ length: draws.one([0, 0, 1, 2, 5]) }, (_, at) => ({
      id: draws.whole(1, 3) * 10 + at,
      // The specification requires a type; a service that leaves it out loses no number for that.
      phoneType: draws.one(['HOME', 'WORK', 'MOBILE', 'FAX', 'OTHER', 'PAGER', null]),
      number: draws.one(['(303) 555-0100', '5', 'unlisted', '', `30355501${at}0`]),
      sequence: draws.one([null, 1, 1, 2]),
    }));
  }
}
