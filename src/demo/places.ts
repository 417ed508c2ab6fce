import { type Random, weights } from './random.ts';

/** An invented town with the real time zone, state, area codes and postal code prefix of its region. */
export interface Town {
  readonly name: string;
  readonly state: string;
  readonly zip: string;
  readonly areaCodes: readonly string[];
  readonly timezone: string;
}

const town = (name: string, state: string, zip: string, areaCodes: string, timezone: string): Town => ({
  name,
  state,
  zip,
  areaCodes: areaCodes.split(' '),
  timezone: timezone.startsWith('Pacific/') ? timezone : `America/${timezone}`,
});

/** The first two are the locations of the small practice, the first ten those of the medium one. */
export const TOWNS: readonly Town[] = [
  town('Alder Springs', 'CO', '804', '303 720', 'Denver'),
  town('Harbor Fen', 'NY', '119', '631 934', 'New_York'),
  town('Lakemoor Park', 'IL', '600', '847 224', 'Chicago'),
  town('Saltgrass', 'AZ', '852', '480 602', 'Phoenix'),
  town('Port Carrow', 'WA', '983', '360 564', 'Los_Angeles'),
  town('Millrace', 'PA', '190', '610 484', 'New_York'),
  town('Cedar Hollow', 'TX', '786', '512 737', 'Chicago'),
  town('Quarry Bend', 'IN', '469', '574 260', 'Indiana/Indianapolis'),
  town('Pine Narrows', 'UT', '840', '801 385', 'Denver'),
  town('Point Winnow', 'CA', '939', '831 805', 'Los_Angeles'),
  town('Fernhill', 'OR', '973', '503 971', 'Los_Angeles'),
  town('Bluewater Key', 'FL', '330', '305 786', 'New_York'),
  town('Thornbury', 'GA', '303', '404 678', 'New_York'),
  town('Mossy Creek', 'TN', '372', '423 865', 'New_York'),
  town('Redcliff Junction', 'NM', '871', '505 575', 'Denver'),
  town('Granite Ferry', 'ID', '836', '208 986', 'Boise'),
  town('Otter Sound', 'AK', '995', '907', 'Anchorage'),
  town('Kaimana Bay', 'HI', '967', '808', 'Pacific/Honolulu'),
  town('Windrow', 'NE', '685', '402 531', 'Chicago'),
  town('Staunch Harbor', 'ME', '041', '207', 'New_York'),
  town('Coppervale', 'MI', '498', '231 616', 'Detroit'),
  town('Bayou Lark', 'LA', '703', '985 504', 'Chicago'),
  town('Prairie Gate', 'KS', '672', '316', 'Chicago'),
  town('Marlow Heights', 'VA', '221', '703 571', 'New_York'),
  town('Silver Tarn', 'NV', '895', '775', 'Los_Angeles'),
  town('Brindle Falls', 'MN', '553', '763 612', 'Chicago'),
  town('Dunmere', 'MA', '018', '978 351', 'New_York'),
  town('Longmeadow Cross', 'OH', '432', '614 380', 'New_York'),
  town('Sable Point', 'NC', '284', '910 472', 'New_York'),
  town('Hearthstone', 'WI', '530', '262', 'Chicago'),
];

/** What a second location in the same town is called. */
export const DISTRICTS: readonly string[] = ['', ' North', ' West', ' Riverside'];

/** Names of streets, without their kinds. */
export const STREETS: readonly string[] = [
  ...['Acorn', 'Amberley', 'Appletree', 'Badger', 'Barley', 'Bluebell', 'Bracken', 'Bramble', 'Chandler', 'Clover'],
  ...['Copperfield', 'Cornflower', 'Cricket', 'Dapple', 'Fiddlehead', 'Foxglove', 'Garnet', 'Gristmill', 'Heron'],
  ...['Hickory Knoll', 'Juniper Loop', 'Kestrel', 'Lantern', 'Larkspur', 'Linden Row', 'Meadowlark', 'Nettle'],
  ...['Old Ferry', 'Orchard Rise', 'Peppermint', 'Quill', 'Saddler', 'Sandpiper', 'Sparrow', 'Tanager', 'Teasel'],
  ...['Thistle', 'Windmill'],
];

/** Kinds of streets, as an address has them. */
export const STREET_KINDS: readonly string[] = ['Street', 'Avenue', 'Lane', 'Drive', 'Court', 'Road', 'Way', 'Place'];

/** People write phone numbers in several ways; the digits are what counts (D11). */
const PHONE_STYLES = weights<(area: string, line: string) => string>([
  [(area, line) => `(${area}) 555-${line}`, 60],
  [(area, line) => `${area}-555-${line}`, 30],
  [(area, line) => `${area}555${line}`, 10],
]);

/** A number that is never assigned: 555-0100 to 555-0199 in one of the town's area codes. */
export function phoneNumber(town: Town, random: Random): string {
  const line = `01${String(random.below(100)).padStart(2, '0')}`;
  return random.weighted(PHONE_STYLES)(random.pick(town.areaCodes), line);
}

/** A postal code of the town's region, of five or nine digits. */
export function postalCode(town: Town, random: Random): string {
  const five = town.zip + String(random.below(100)).padStart(2, '0');
  return random.chance(0.1) ? `${five}-${random.between(1_000, 9_999)}` : five;
}
