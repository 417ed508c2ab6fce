import { expect, it } from 'vitest';
import type { World } from '../../cli/runcommand.ts';
import { big, PATIENTS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import { answer } from '../transport/script.ts';
import { mirrorFolder, openServer, syncTo } from './mirroring.ts';
import { answered } from './network.ts';
import { queried } from './oracle.ts';

const RESOURCES = ['patients', 'scheduletemplatereasons'];

it('a location that a record names since is asked for its records until they are there', async () => {
  const { file } = await mirrorFolder();
  const { service, env } = await openServer();
  const sync = async (world: World = {}) => (await syncTo(file, RESOURCES, { env, ...world })).exitCode;
  const there = () => queried(file, `SELECT id FROM schedule_template_reasons WHERE location_id = ${big(8)}`);
  const location = { id: big(8) };
  const reason = { id: big(80_001), reason: 'Surgery', durationMinutes: 60, location };
  await service.import([line('Location', { ...location, name: 'New' }), line('ScheduleTemplateReasonV1', reason)]);
  expect(await sync()).toBe(0);
  await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredLocation: location } });
  const openNetwork = answered((url) => (url.includes('/scheduletemplatereasons?') ? answer(500, '') : undefined));
  expect([await sync({ openNetwork }), there()]).toEqual([6, []]);
  expect([await sync(), there()]).toEqual([0, [{ id: reason.id }]]);
});
