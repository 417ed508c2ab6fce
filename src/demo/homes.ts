import type { LocationPlan } from './locations.ts';
import type { Home } from './people.ts';
import { STREET_KINDS, STREETS, type Town } from './places.ts';
import { type Random, weights } from './random.ts';

/** People write phone numbers in several ways; the digits are what counts (D11). */
const PHONE_STYLES = weights<(area: string, line: string) => string>([
  [(area, line) => `(${area}) 555-${line}`, 60],
  [(area, line) => `${area}-555-${line}`, 30],
  [(area, line) => `${area}555${line}`, 10],
]);

/** Where a household lives, near one of the locations. */
export function makeHome(locations: readonly LocationPlan[], language: string, random: Random): Home {
  const location = random.pick(locations);
  const { town } = location;
  const number = random.between(1, 9_899);
  const unit = random.chance(0.22) ? `${random.pick(['Apt', 'Unit', 'Suite', '#'])} ${random.between(1, 60)}` : null;
  return {
    location,
    provider: random.pick(location.providers.filter(({ role }) => role === 'dentist')),
    language,
    address1: `${number} ${random.pick(STREETS)} ${random.pick(STREET_KINDS)}`,
    address2: unit,
    postalCode: postalCode(town, random),
    phone: random.chance(0.55) ? phoneNumber(town, random) : null,
  };
}

/** A number that is never given out: 555-0100 to 555-0199 in one of the town's area codes. */
export function phoneNumber(town: Town, random: Random): string {
  const line = `01${String(random.below(100)).padStart(2, '0')}`;
  return random.weighted(PHONE_STYLES)(random.pick(town.areaCodes), line);
}

function postalCode(town: Town, random: Random): string {
  const five = town.zip + String(random.below(100)).padStart(2, '0');
  return random.chance(0.1) ? `${five}-${random.between(1_000, 9_999)}` : five;
}
