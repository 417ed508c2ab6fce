import { describe, expect, it } from 'vitest';
import { eventFields } from '../../../src/catalog/resources/events.ts';
import { readWith } from '../fields/reading.ts';

describe('the color of a calendar event (specification, Event)', () => {
  it.each(['bbbbbb', '00FFaa', '123456'])('may be %s', (color) => {
    expect(readWith(eventFields.color.kind, color)).toMatchObject({ value: color, problems: [] });
  });

  it.each(['#bbbbbb', 'bbb', 'bbbbbbb', 'gggggg', ''])('may not be %j', (color) => {
    expect(readWith(eventFields.color.kind, color)).toMatchObject({
      value: undefined,
      descriptions: ['field must be exactly 6 hexadecimal digits without #.'],
    });
  });
});
