import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Combo } from "../../ui/Combo";
import { useSettled } from "../../ui/useSettled";
import { contactQuery, foundContactsQuery } from "../contacts/queries";

type Props = { label: string; value: string | null; onChange: (id: string | null) => void; help?: string };

/** ContactPick chooses one contact by name or address. */
export function ContactPick({ label, value, onChange, help }: Props) {
	const [typed, setTyped] = useState("");
	const asked = useSettled(typed.trim(), 200);
	const [opened, setOpened] = useState(false);
	const found = useQuery({ ...foundContactsQuery(asked), enabled: opened });
	const chosen = useQuery({ ...contactQuery(value ?? ""), enabled: value !== null });
	const rows = [...(found.data?.data ?? [])];
	if (chosen.data && !rows.some((contact) => contact.id === value)) rows.unshift(chosen.data);
	const options = rows.map((contact) => ({
		id: contact.id,
		label: [contact.first_name, contact.last_name].filter(Boolean).join(" ") || contact.email || contact.id,
		detail: contact.email ?? undefined,
	}));
	return (
		<Combo
			label={label}
			help={help}
			options={options}
			value={value}
			onChange={onChange}
			onSearch={setTyped}
			onOpen={() => setOpened(true)}
			loading={found.isPending}
		/>
	);
}
