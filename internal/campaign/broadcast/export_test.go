package broadcast

// RescheduleWithin is Reschedule with a time limit for the plan.
var RescheduleWithin = reschedule
