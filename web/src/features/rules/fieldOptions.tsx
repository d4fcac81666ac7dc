import {
	Calendar,
	CircleUser,
	Clock,
	Hash,
	List,
	type LucideIcon,
	MailCheck,
	Tags,
	ToggleLeft,
	Type,
	UserRound,
} from "lucide-react";
import type { Option } from "../../ui/Combo";
import type { FieldInfo, FieldKind } from "./fields";

const icons: { [K in FieldKind]: LucideIcon } = {
	text: Type,
	number: Hash,
	boolean: ToggleLeft,
	choice: CircleUser,
	date: Calendar,
	time: Clock,
	tags: Tags,
	reference: UserRound,
	list: List,
	subscription: MailCheck,
};

/** fieldOptions returns fields as choices: under the headings of their groups, each with the icon of its kind. */
export const fieldOptions = (fields: FieldInfo[]): Option[] =>
	fields.map((field) => {
		const Icon = icons[field.kind];
		return { id: field.field, label: field.name, group: field.group, icon: <Icon aria-hidden size={16} /> };
	});
