import { MirrorVerifyCommand, verifyArguments, verifyFlags } from '../../cli/mirror/verifycommand.ts';

export default class MirrorVerify extends MirrorVerifyCommand {
  static override summary = 'Prove that the local copy is what the server has, or mend it';
  static override description = [
    'The copy is brought up to date, everything is read again, and each row of each table is compared with what the server has: a late change is no difference. Each one that is found is a line; the exit code is 9, with --repair 0 when all were mended.',
    'The receipt says when, what was compared, and what was found, with SHA-256 digests and the SQL that computes them again.',
  ].join('\n\n');
  static override examples = [
    '<%= config.bin %> mirror verify',
    '<%= config.bin %> mirror verify patients transactions --to practice.db --json',
    '<%= config.bin %> mirror verify --repair --receipt proof.json',
    '<%= config.bin %> mirror verify --sample 100',
  ];
  static override args = verifyArguments;
  static override flags = verifyFlags;
}
