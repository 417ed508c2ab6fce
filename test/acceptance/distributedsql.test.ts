import { writeFile } from 'node:fs/promises';
import { callSample, operations } from '../contract/operations.ts';
import { onPostgres, postgresTest, testDatabase } from '../support/postgres.ts';
import { testService } from '../support/service.ts';
import { sqlGate } from '../support/sqlgate.ts';
import { Relay } from '../../src/server/stream/relay/relay.ts';
import { deleteOldEntries } from '../../src/server/audit/retention.ts';
import { molar, serve, workplace, writeFixture, ORGANIZATION } from './molar.ts';

postgresTest('explore', async ({ url, schema }) => {
  const place = await workplace();
  await writeFixture(place.path, 20);
  const gate = await sqlGate(url, /^\s*(LISTEN|NOTIFY)|pg_advisory/);
  const service = await testService(undefined, { database: gate.url });
  for (const [, tested] of operations()) {
    const called = await callSample(service, tested, { headers: { 'idempotency-key': 'x' + tested.operation.id } } as never);
    if (called.status >= 300) console.log(tested.operation.id, called.status, called.text);
  }
  const broker = { broken: new AbortController().signal, publish: (_m: any, settled: any) => { setTimeout(() => settled(true), 1); return true; }, drained: async () => {}, close: async () => {} };
  const relay = await Relay.start(service.service, { url: 'amqp://b', exchange: 'm', name: 'b /' }, { connected() {}, failed() {} }, async () => broker as any);
  while (relay.lag > 0) await new Promise((r) => setTimeout(r, 5));
  await relay.stop();
  service.clock.advance(3000 * 86400_000);
  await service.service.stream.tidy();
  await deleteOldEntries(service.service.store, service.keeper, service.clock.now, 5);
  await service.close();
  const second = await testDatabase();
  const gate2 = await sqlGate(second.url, /^\s*(LISTEN|NOTIFY)|pg_advisory/);
  const data = ['--database', gate2.url, '--files', 'files'];
  const served = await serve(place.path, [...data, '--import', 'fixture.ndjson']);
  await served.stop();
  for (const args of [['server','check','--deep',...data],['server','audit','verify',...data],['server','tokens','create','--for',ORGANIZATION,...data], ['server','backup','copy',...data], ['server', 'migrate', '--from-database', gate2.url, '--to', 'x']]) {
    const e = await molar(place.path, args);
    console.log(args.slice(0,3).join(' '), e.code, e.stderr.slice(0,300));
  }
  await second.drop();
  await writeFile('/tmp/phases-sql.json', JSON.stringify([...new Set([...gate.statements, ...gate2.statements])], null, 1));
  console.log('refused', [...gate.refused], [...gate2.refused]);
  const keys = await onPostgres(async (c) => (await c.query(`SELECT t.relname AS t, i.relname AS i, pg_get_indexdef(i.oid) AS d FROM pg_index x JOIN pg_class i ON i.oid=x.indexrelid JOIN pg_class t ON t.oid=x.indrelid WHERE x.indisunique AND t.relnamespace=current_schema()::regnamespace ORDER BY 1`)).rows, url);
  for (const k of keys as any[]) console.log(k.d.replace(/^CREATE UNIQUE INDEX /,'').replace(schema+'.',''));
  await place.remove();
  await gate.close(); await gate2.close();
}, );
