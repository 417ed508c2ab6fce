/** Record ids of 14 digits, as seen in the wild (D1): above int32, below 2^53. */
export function big(n: number): number {
  return 70_000_000_000_000 + n;
}

/** The practice that calls are for unless they say otherwise; America/Denver. */
export const ORGANIZATION = '5f0c1e2d3a4b5c6d7e8f9a0b';
/** Another practice in the same service, with records under some of the same ids; Europe/Berlin. */
export const OTHER_ORGANIZATION = 'other_practice-2';

export const LOCATIONS = { east: big(5), west: big(6), home: big(7) } as const;
export const PROVIDERS = { ann: big(11), ben: big(12), lab: big(13), gone: big(14) } as const;
/** The first two are in the east, the third is in the west. */
export const OPERATORIES = { one: big(21), two: big(22), three: big(23) } as const;
export const EXAMS = { one: big(31), two: big(32) } as const;
export const REFERRALS = { web: big(41), sign: big(42) } as const;
export const PLANS = { senior: big(51) } as const;
export const BILLING_TYPES = { cash: big(61), card: big(62), plan: big(63) } as const;
export const CLAIMS = { sent: big(71), paid: big(72) } as const;
/** Ids that only the other practice has. */
export const ELSEWHERE = {
  location: big(905),
  provider: big(911),
  operatory: big(921),
  exam: big(931),
  referral: big(941),
  discountPlan: big(951),
  billingType: big(961),
  claim: big(971),
  patient: big(991),
} as const;
/** No practice has a record of this id. */
export const NOWHERE = big(999_999);

export const PATIENTS = { ann: big(101), bob: big(102), cleo: big(103) } as const;

/** Bearer tokens; each name says what it is for. */
export const TOKENS = {
  full: 'token-of-all-scopes',
  other: 'token-other-practice',
  both: 'token-both-practices',
  read: 'token-model-read',
  write: 'token-model-write',
  practice: 'token-practice-read',
  none: 'token-without-scopes',
  expired: 'token-that-expired',
} as const;
