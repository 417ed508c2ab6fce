import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import type { WireRecord } from '../calls.ts';
import type { ResourceFixture } from '../fixture.ts';
import { big } from '../ids.ts';

function tag(n: number, tagText: string, tagType = 'PAYMENT_TAG', isPredefined = false): WireRecord {
  return { id: big(n), tagText, isPredefined, tagType };
}

/** Transaction tags (specification, Transaction tag, Limits; D23). */
export const transactionTagFixture: ResourceFixture = {
  resource: transactionTags,
  records: [
    tag(301, 'Cash'),
    tag(302, 'cash back', 'ADJUSTMENT_TAG'),
    tag(303, 'CASH', 'ADJUSTMENT_TAG', true),
    tag(304, '100% off'),
    tag(305, '100x off'),
    tag(306, 'a_b'),
    tag(307, 'axb'),
    tag(308, 'A\u030angstro\u0308m'),
    tag(309, '\u00c5NGSTR\u00d6M', 'ADJUSTMENT_TAG'),
    tag(310, 'a, "b" \\ [c]', 'ADJUSTMENT_TAG'),
  ],
  elsewhere: [tag(301, 'Elsewhere'), tag(9301, 'Cash')],
  meta: 'others',
  create: (n) => ({ tagText: `Tag ${n}`, isPredefined: false, tagType: 'PAYMENT_TAG' }),
  required: ['tagText', 'isPredefined', 'tagType'],
  update: (n) => ({ tagText: `Changed ${n}` }),
  lengths: [['tagText', 1, 30]],
  choices: [['tagType', ['PAYMENT_TAG', 'ADJUSTMENT_TAG']]],
  booleans: ['isPredefined'],
};
