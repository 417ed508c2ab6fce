/** What of a practice the views tell, in cents and ids. */
export interface Practice {
  readonly patients: readonly {
    readonly id: number;
    readonly firstName: string;
    readonly lastName: string | null;
    readonly primaryGuarantor: number | null;
    readonly preferredLocation: number | null;
    readonly lastModified: string;
  }[];
  readonly transactions: readonly {
    readonly id: number;
    readonly amount: number;
    readonly patient: number | null;
    readonly location: number | null;
    readonly isActive: boolean;
    readonly ledgerType: string;
    readonly transactionDate: string;
    readonly distributions: readonly {
      readonly charge: number;
      readonly applied: number;
      readonly isActive: boolean;
    }[];
  }[];
  readonly appointments: readonly {
    readonly id: number;
    readonly start: string;
    readonly end: string;
    readonly patient: number | null;
    readonly location: number | null;
    readonly status: string | null;
    readonly note: string | null;
  }[];
  readonly events: readonly {
    readonly id: number;
    readonly start: string;
    readonly end: string;
    readonly location: number | null;
    readonly title: string;
  }[];
}

interface World {
  /** The zone of a location. */
  readonly zoneOf: (location: number | null) => string;
  /** UTC milliseconds. */
  readonly now: number;
}

interface Expected {
  readonly columns: readonly string[];
  readonly rows: (practice: Practice, world: World) => readonly (readonly unknown[])[];
}

/** What each view has to say (D52, D21, D34), by nothing that the product is made of. */
export const VIEWS: Readonly<Record<string, Expected>> = {
  v_patients: {
    columns: ['id', 'first_name', 'last_modified', 'last_modified_local'],
    rows: ({ patients }, { zoneOf }) =>
      patients.map(({ id, firstName, preferredLocation, lastModified }) => {
        return [id, firstName, lastModified, local(lastModified, zoneOf(preferredLocation))];
      }),
  },
  v_transactions: {
    columns: ['id', 'amount', 'transaction_date', 'is_active'],
    rows: ({ transactions }) =>
      transactions.map(({ id, amount, transactionDate, isActive }) => [id, amount / 100, transactionDate, isActive]),
  },
  v_schedule: {
    columns: ['kind', 'id', 'start', 'start_local', 'end', 'end_local', 'patient_first_name', 'title', 'note'],
    rows: ({ appointments, events, patients }, { zoneOf }) => [
      ...appointments.map(({ id, start, end, location, patient, note }) => {
        const times = [start, local(start, zoneOf(location)), end, local(end, zoneOf(location))];
        return ['appointment', id, ...times, patients.find((each) => each.id === patient)?.firstName, null, note];
      }),
      ...events.map(({ id, start, end, location, title }) => {
        const times = [start, local(start, zoneOf(location)), end, local(end, zoneOf(location))];
        return ['event', id, ...times, null, title, null];
      }),
    ],
  },
  v_ledger: {
    columns: ['id', 'amount', 'is_active', 'patient_first_name', 'guarantor_id', 'guarantor_first_name'],
    rows: (practice) =>
      practice.transactions.map(({ id, amount, isActive, patient }) => {
        const guarantor = guarantorOf(practice, patient);
        const nameOf = (wanted: number | null) => practice.patients.find((each) => each.id === wanted)?.firstName;
        return [id, amount / 100, isActive, nameOf(patient), guarantor, nameOf(guarantor)];
      }),
  },
  v_balances: { columns: ['guarantor_id', 'location_id', 'outstanding', 'unapplied', 'balance'], rows: balances },
  v_visits: { columns: ['patient_id', 'last_visit_date', 'next_visit', 'next_visit_local'], rows: visits },
};

function guarantorOf({ patients }: Practice, patient: number | null): number | null {
  return patients.find(({ id }) => id === patient)?.primaryGuarantor ?? patient;
}

/** What is left of each charge, and of each credit, by who owes it and where. */
function balances(practice: Practice): (readonly unknown[])[] {
  const { transactions } = practice;
  const open = new Map<string, { key: readonly unknown[]; outstanding: number; unapplied: number }>();
  for (const { id, amount, patient, location, isActive, distributions } of transactions) {
    if (!isActive) continue;
    let left = amount;
    if (amount > 0) {
      for (const other of transactions)
        for (const { charge, applied, isActive: counts } of other.distributions)
          if (charge === id && counts && other.isActive && other.amount < 0) left -= applied;
    } else {
      for (const { charge, applied, isActive: counts } of distributions)
        if (counts && transactions.some((other) => other.id === charge && other.isActive && other.amount > 0))
          left += applied;
    }
    const key = [guarantorOf(practice, patient), location];
    const sums = open.get(String(key)) ?? { key, outstanding: 0, unapplied: 0 };
    open.set(String(key), sums);
    if (amount > 0) sums.outstanding += left;
    else sums.unapplied += left;
  }
  return [...open.values()]
    .filter(({ outstanding, unapplied }) => outstanding !== 0 || unapplied !== 0)
    .map(({ key, outstanding, unapplied }) => [
      ...key,
      ...[outstanding, unapplied, outstanding + unapplied].map((cents) => cents / 100),
    ]);
}

function visits({ patients, appointments, transactions }: Practice, { zoneOf, now }: World): (readonly unknown[])[] {
  return patients.map(({ id }) => {
    const own = appointments.filter(({ patient }) => patient === id);
    const days = [
      ...own
        .filter(({ status }) => status === 'COMPLETED' || status === 'CHECKOUT')
        .map(({ start, location }) => local(start, zoneOf(location)).slice(0, 10)),
      ...transactions
        .filter((each) => each.patient === id && each.isActive && each.ledgerType === 'PatientProcedureLedger')
        .map(({ transactionDate }) => transactionDate),
    ];
    const [next] = own
      .filter(({ start }) => Date.parse(start) >= now)
      .filter(({ status }) => status !== null && !['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'].includes(status))
      .sort((a, b) => Date.parse(a.start) - Date.parse(b.start) || a.id - b.id);
    return [id, days.sort().at(-1), next?.start, next && local(next.start, zoneOf(next.location))];
  });
}

/** The local date and time of an instant, by a formatter that molar does not use. */
function local(instant: string, timeZone: string): string {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const;
  return new Intl.DateTimeFormat('sv-SE', options).format(new Date(instant));
}
