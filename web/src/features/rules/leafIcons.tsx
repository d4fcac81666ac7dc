import {
	Ban,
	Eye,
	FormInput,
	Layers,
	List,
	type LucideIcon,
	Mail,
	MailCheck,
	Megaphone,
	Play,
	Route,
	Send,
	UserRound,
	Workflow,
	Zap,
} from "lucide-react";
import type { Kind } from "./leaves";

const icons: { [K in Kind]: LucideIcon } = {
	field: UserRound,
	list: List,
	segment: Layers,
	email: Mail,
	broadcast: Megaphone,
	sequence_email: Send,
	event: Zap,
	event_sequence: Route,
	page_view: Eye,
	form: FormInput,
	subscription: MailCheck,
	sequence: Workflow,
	suppression: Ban,
	trigger_event: Play,
};

/** leafIcon returns the icon of a type of condition. */
export function leafIcon(kind: Kind) {
	const Icon = icons[kind] ?? UserRound;
	return <Icon aria-hidden size={16} />;
}
