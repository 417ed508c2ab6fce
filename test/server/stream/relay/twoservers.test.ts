import sql from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { ORGANIZATION } from '../../../support/ids.ts';
import { bareRecords } from '../../../support/practice.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { ownOrg, ownPositions } from '../told.ts';
import { writeOwnMessages } from '../writing.ts';
import { EVENTS, FakeBroker, startRelay, stopRelays, TARGET, until } from './fakebroker.ts';

const newest = async (service: TestService) => (await ownPositions(service)).newest;

const numbers = ({ taken }: FakeBroker) =>
  taken.filter(({ routingKey }) => routingKey.startsWith(`${ORGANIZATION}.`)).map(({ number }) => number);

const leases = ({ service }: TestService) =>
  service.store.read.all(sql`SELECT name FROM leases WHERE name LIKE 'relay %'`);

describe('relays of one broker on one database', () => {
  preparedTest('take turns: one sends, and another goes on where that stopped', async (database) => {
    const servers = [
      await testService(bareRecords(), { database: database.url }),
      await testService([], { database: database.url }),
    ] as const;
    const brokers = [new FakeBroker(), new FakeBroker()] as const;
    try {
      const first = await startRelay(servers[0].service, TARGET, EVENTS, brokers[0].open);
      await until(() => first.connected);
      const second = await startRelay(servers[1].service, TARGET, EVENTS, brokers[1].open);
      await writeOwnMessages(servers[1], 5);
      const before = await newest(servers[0]);
      await until(() => numbers(brokers[0]).at(-1) === before);
      expect(brokers[1].connections).toBe(0);
      await first.stop();
      await writeOwnMessages(servers[0], 2);
      await until(() => numbers(brokers[1]).length >= 2);
      expect(numbers(brokers[1])).toEqual([before + 1, before + 2]);
      await second.stop();
      expect(await leases(servers[0])).toEqual([]);
    } finally {
      await stopRelays();
      for (const server of servers) await server.close();
    }
  });

  preparedTest('send nothing while another server is taken for the one', async (database) => {
    const server = await testService(bareRecords(), { database: database.url });
    const broker = new FakeBroker();
    const { store } = server.service;
    try {
      const relay = await startRelay(server.service, TARGET, EVENTS, broker.open);
      await until(() => relay.connected);
      // As where this server was silent for so long that its lease was over.
      await store.write((tx) =>
        tx.run(sql`UPDATE leases SET holder = 'another', until = until + 1000000000 WHERE name LIKE 'relay %'`),
      );
      await until(() => !relay.connected);
      const told = numbers(broker).length;
      await writeOwnMessages(server, 3);
      const at = await newest(server);
      // It reads what the other one has brought.
      const org = await ownOrg(server);
      await store.write((tx) =>
        tx.run(sql`UPDATE relay_positions SET position = ${String(at - 1)} WHERE org = ${org}`),
      );
      await store.write((tx) => tx.run(sql`DELETE FROM leases WHERE name LIKE 'relay %'`));
      await until(() => numbers(broker).length > told);
      expect(numbers(broker).slice(told)).toEqual([at]);
      await relay.stop();
    } finally {
      await stopRelays();
      await server.close();
    }
  });
});
