import { NamesLearnCommand, namesLearnFlags } from '../../cli/names/learncommand.ts';

export default class NamesLearn extends NamesLearnCommand {
  static override summary = 'Add the ids of locations, providers and operatories that records show';
  static override description =
    'Reads the mirror of the profile where there is one, which sends nothing. Otherwise it requests up to 2,000 records of each kind, and as many of those that changed in the last 90 days. Rows that are there stay as they are.';
  static override examples = ['<%= config.bin %> names learn', '<%= config.bin %> names learn --from practice.db'];
  static override flags = namesLearnFlags;
}
