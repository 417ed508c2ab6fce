import { describe } from 'vitest';
import { faultyUploads } from '../support/faults/uploadruns.ts';

describe('35 files over a faulty line', () => {
  faultyUploads(2);
});
