import { NamesListCommand, namesListFlags } from '../../cli/names/listcommand.ts';

export default class NamesList extends NamesListCommand {
  static override summary = 'List the names of locations, providers and operatories';
  static override description =
    'The API does not tell them: they are kept in a file of the profile (molar help names).';
  static override examples = ['<%= config.bin %> names list', '<%= config.bin %> names list --kind location --json'];
  static override flags = namesListFlags;
}
