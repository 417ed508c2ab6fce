import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class TransactiontagsGet extends getCommand(transactionTags, 1900000000001) {}
