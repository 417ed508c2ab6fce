import { describe, expect, it } from 'vitest';
import { checkDefaults } from '../../../../src/core/documents/uploads/uploadinput.ts';

describe('flags that no file could be uploaded with', () => {
  it.each<[string, Parameters<typeof checkDefaults>[0], string | undefined]>([
    ['none', {}, undefined],
    ['a patient', { patient: '5' }, undefined],
    ['a patient that is none', { patient: 'x' }, '--patient'],
    ['a patient of number zero', { patient: '0' }, '--patient'],
    ['a perio exam', { perioExam: '5' }, undefined],
    ['a perio exam that is none', { perioExam: '-5' }, '--perio-exam'],
    ['two owners', { patient: '5', perioExam: '6' }, '--perio-exam'],
    ['a type', { mimeType: 'pdf' }, undefined],
    ['a type that is none', { mimeType: 'exe' }, '--mime-type'],
    ['a date', { userDefinedDate: '2026-02-28' }, undefined],
    ['a date that does not exist', { userDefinedDate: '2026-02-30' }, '--user-defined-date'],
    ['a crop and a ratio', { crop: '0,0,5,5', ratio: '1' }, undefined],
    ['a crop alone', { crop: '0,0,5,5' }, '--ratio'],
    ['a ratio alone', { ratio: '1' }, '--crop'],
  ])('%s', (_name, defaults, source) => {
    if (source === undefined) expect(() => checkDefaults(defaults)).not.toThrow();
    else
      expect(() => checkDefaults(defaults)).toThrow(
        expect.objectContaining({ exitCode: 2, items: [expect.objectContaining({ source })] }),
      );
  });
});
