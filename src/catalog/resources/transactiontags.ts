import {
  createOperation,
  deleteOperation,
  filterKeys,
  getOperation,
  key,
  listOperation,
  resource,
  updateOperation,
} from '../define.ts';
import { id, yesNo } from '../fields/numbers.ts';
import { choice, text } from '../fields/text.ts';
import { choiceValue, idValue, textValue } from '../filter/values.ts';
import { EQUALS_NOT, IN, TEXT } from '../operators.ts';
import { STANDARD_PAGING } from '../paging.ts';
import { readOnly, required } from '../record.ts';

const TAG_TYPES = ['PAYMENT_TAG', 'ADJUSTMENT_TAG'] as const;

/** Transaction tag (specification, Transaction tag; D23). */
export const transactionTagFields = {
  id: readOnly(id(), 'Tag id'),
  tagText: required(text({ min: 1, max: 30 }), 'Text of the tag'),
  isPredefined: required(yesNo(), 'Predefined by the system: can be neither changed nor deleted'),
  tagType: required(choice(TAG_TYPES), 'PAYMENT_TAG for patient payments, ADJUSTMENT_TAG for adjustments'),
} as const;

export const transactionTagFilters = filterKeys({
  id: key(IN, idValue, 'Tag ids', { flags: { id: '->' } }),
  tagText: key(TEXT, textValue, 'Text', { flags: { text: '~=' }, index: 'none' }),
  tagType: key(EQUALS_NOT, choiceValue(TAG_TYPES), 'Type', { flags: { type: '==' } }),
});

export const transactionTags = resource({
  name: 'transactiontags',
  type: 'TransactionTagV1',
  one: 'transaction tag',
  many: 'transaction tags',
  about: 'Labels for payments and adjustments',
  fields: transactionTagFields,
  locatedBy: [],
  filters: transactionTagFilters,
  tableColumns: ['id', 'tagText', 'tagType', 'isPredefined'],
  operations: {
    list: listOperation('/transactiontags', {
      summary: 'List transaction tags',
      filters: transactionTagFilters,
      paging: STANDARD_PAGING,
      // The date limit applies when `filter` is omitted (specification, Transaction tags).
      dateLimit: { parts: ['tagType==PAYMENT_TAG', 'tagType!=PAYMENT_TAG'] },
      fields: transactionTagFields,
    }),
    get: getOperation('/transactiontags/{transactionTagId}', {
      summary: 'Show one transaction tag',
      fields: transactionTagFields,
    }),
    create: createOperation('/transactiontags', {
      summary: 'Create a transaction tag',
      fields: transactionTagFields,
      body: transactionTagFields,
    }),
    update: updateOperation('/transactiontags/{transactionTagId}', {
      summary: 'Change a transaction tag',
      unlisted: true,
      fields: transactionTagFields,
      body: transactionTagFields,
    }),
    delete: deleteOperation('/transactiontags/{transactionTagId}', { summary: 'Delete a transaction tag' }),
  },
});
