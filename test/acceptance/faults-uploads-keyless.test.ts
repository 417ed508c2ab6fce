import { describe } from 'vitest';
import { faultyUploads } from '../support/faults/uploadruns.ts';

describe('35 files over a faulty line to a server that takes no notice of keys', () => {
  faultyUploads(4, { withoutKeys: true });
});
