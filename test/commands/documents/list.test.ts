import { describe, expect, it } from 'vitest';
import DocumentsGet from '../../../src/commands/documents/get.ts';
import DocumentsList from '../../../src/commands/documents/list.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { Script, success } from '../../core/transport/script.ts';

const scan = {
  id: 5,
  name: 'scan.pdf',
  mimeType: 'PDF',
  ownerType: 'Patient',
  ownerPatient: { id: 7000000000114 },
  tags: ['X-Ray', '2026'],
  storage: { original: 'https://api.example.com/files/1?sig=x' },
  type: 'DocumentV1',
};

describe('documents list', () => {
  it('filters by owner and tags', async () => {
    const script = new Script(success([scan]), success([]));
    const argv = ['--patient', '7000000000114', '--tag', 'X-Ray,2026', '--fields', 'id,name,ownerPatient,tags'];
    const ran = await runCommand('documents:list', DocumentsList, argv, { script });
    expect(ran.stdout).toBe('id,name,ownerPatient.id,tags\n5,scan.pdf,7000000000114,"[""X-Ray"",""2026""]"\n');
    expect(script.queries[0]?.filter).toBe('ownerPatient.id==7000000000114,tags->[X-Ray,2026]');
  });

  it('shows objects as JSON in CSV', async () => {
    const script = new Script(success([scan]), success([]));
    const ran = await runCommand('documents:list', DocumentsList, ['--fields', 'storage'], { script });
    expect(ran.stdout).toBe('storage\n"{""original"":""https://api.example.com/files/1?sig=x""}"\n');
  });
});

describe('documents get', () => {
  it('shows one document', async () => {
    const script = new Script(success(scan));
    const ran = await runCommand('documents:get', DocumentsGet, ['5', '--fields', 'name,tags'], {
      script,
      terminal: 80,
    });
    expect(ran.stdout).toBe('name  scan.pdf\ntags  X-Ray\n      2026\n');
  });
});
