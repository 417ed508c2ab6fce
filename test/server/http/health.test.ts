import { expect, it } from 'vitest';
import { testService } from '../../support/service.ts';

it('/readyz answers within 2 s when the file store hangs, and when the database does', async () => {
  const service = await testService([], { store: 'sqlite' });
  const hanging = () => new Promise<never>(() => undefined);
  const ready = async () => {
    const began = performance.now();
    const { statusCode } = await service.app.inject('/readyz');
    return [statusCode, performance.now() - began < 2000];
  };
  for (const name of ['stage', 'size', 'open', 'finalize', 'leftovers'] as const)
    Object.assign(service.service.files, { [name]: hanging });
  expect(await ready()).toEqual([200, true]);
  const { ping } = service.service.store;
  Object.assign(service.service.store, { ping: hanging });
  expect(await ready()).toEqual([503, true]);
  Object.assign(service.service.store, { ping });
  expect(await ready()).toEqual([200, true]);
  await service.close();
});
