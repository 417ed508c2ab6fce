import { filterKeys, key, listOperation, resource } from '../define.ts';
import { link } from '../fields/composites.ts';
import { id, integer } from '../fields/numbers.ts';
import { line, typeName } from '../fields/text.ts';
import { idValue } from '../filter/values.ts';
import { EQUALS } from '../operators.ts';
import { STANDARD_PAGING } from '../paging.ts';
import { readOnly } from '../record.ts';

/** Reason that a slot of a schedule template is reserved for (D31). */
export const scheduleTemplateReasonFields = {
  id: readOnly(id(), 'Reason id'),
  type: readOnly(typeName('ScheduleTemplateReasonV1'), 'Always ScheduleTemplateReasonV1'),
  reason: readOnly(line(), 'Reason'),
  durationMinutes: readOnly(integer({ min: 0 }), 'Usual length in minutes'),
  location: readOnly(link('Location'), 'Location'),
} as const;

export const scheduleTemplateReasonFilters = filterKeys({
  'location.id': key(EQUALS, idValue, 'Location', {
    flags: { location: '==' },
    required: true,
    index: 'plain',
    fewValues: true,
  }),
});

export const scheduleTemplateReasons = resource({
  name: 'scheduletemplatereasons',
  type: 'ScheduleTemplateReasonV1',
  one: 'schedule template reason',
  many: 'schedule template reasons',
  about: 'Reasons that schedule slots are reserved for',
  fields: scheduleTemplateReasonFields,
  locatedBy: ['location'],
  filters: scheduleTemplateReasonFilters,
  tableColumns: ['id', 'reason', 'durationMinutes', 'location.id'],
  operations: {
    list: listOperation('/scheduletemplatereasons', {
      summary: 'List the schedule template reasons of a location',
      filters: scheduleTemplateReasonFilters,
      filterRequired: true,
      paging: STANDARD_PAGING,
      unpaged: true,
      fields: scheduleTemplateReasonFields,
    }),
  },
});
