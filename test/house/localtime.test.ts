import { expect, it } from 'vitest';
import { filesBelow } from './tree.ts';

/** What of a Date depends on the zone of the computer: its parts, and a Date that is made of parts. */
const LOCAL =
  /\.[gs]et(?:FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds|TimezoneOffset)\(|new Date\([^()]*,|toLocale(?:Date|Time)String/;

it('nothing depends on the zone of the computer, in which the tests are always UTC', () => {
  const found = filesBelow('src', /\.ts$/).flatMap(({ path, text }) =>
    text.split('\n').flatMap((line) => (LOCAL.test(line) ? [`${path}: ${line}`] : [])),
  );
  // ZIP has local times, so that this one is the same everywhere.
  expect(found).toEqual(['src/core/output/xlsxpackage.ts: const MODIFIED = new Date(1980, 0, 1);']);
});
